// What a class says, on phones and on the projector, one table a language. Holes are filled with numbers. No DOM here.

export const CLASS_WORDS = {
  en: {
    // ---- phones
    code: "Code",
    enter: "Enter the class",
    askCode: "Five letters, as on the screen in front.",
    scene: "Scene {n} of {count}",
    front: "Look at the screen in front. A question comes here.",
    press: "Press the place in the picture.",
    guess: "Guess",
    yours: "Your guess: {guess}. You may change it until all are shown.",
    yourPlace: "Your guess is marked. You may move it until all are shown.",
    missed: "All guesses are shown: this one went by without yours.",
    you: "you",
    truth: "The answer: {truth}",
    truthPlace: "The answer is framed.",
    ended: "This class has ended.",
    lost: "No connection to the class; it is tried again.",
    language: "Language",
    // ---- both
    first: "First guess",
    second: "Second guess",
    guesses: "{count} guesses",
    oneGuess: "1 guess",
    // ---- the lecturer
    start: "Start a class",
    started: "Class {code}",
    here: "{count} here",
    answered: "{answered} of {here} have answered",
    open: "Open this question",
    reveal: "Reveal the guesses",
    again: "Discuss, then guess again",
    tell: "Show the answer",
    covered: "Guesses come in on the phones. Here nothing is shown before you reveal it.",
    secondTime: "Second guess: the first one is shown beside it.",
    hands: "Hands counted in the room",
    addHands: "Add",
    closeDoor: "Close the door",
    openDoor: "Open the door",
    end: "End the class",
    showCode: "Code",
    hideCode: "Hide the code",
    yourLink: "Your link: it brings the class back",
    goTo: "Open with a phone:",
    left: "{minutes} minutes left",
    asked: "Question {asked}; a class of 45 minutes has about six",
    sendPicture: "The phones need your photograph. Send it to them? It goes when the class ends.",
    yes: "Send it",
    no: "No",
    needsApp: "A class needs the app with its server: these plain files have nobody who counts. Start it by",
    over: "The class has ended.",
  },
  de: {
    code: "Code",
    enter: "Zur Klasse",
    askCode: "Fünf Buchstaben, wie vorn auf der Leinwand.",
    scene: "Szene {n} von {count}",
    front: "Sehen Sie nach vorn. Hier kommt eine Frage.",
    press: "Drücken Sie auf die Stelle im Bild.",
    guess: "Raten",
    yours: "Ihr Tipp: {guess}. Sie können ihn ändern, bis alle gezeigt werden.",
    yourPlace: "Ihr Tipp ist markiert. Sie können ihn verschieben, bis alle gezeigt werden.",
    missed: "Alle Tipps werden gezeigt: Diese Frage ging ohne Ihren vorbei.",
    you: "Sie",
    truth: "Die Antwort: {truth}",
    truthPlace: "Die Antwort ist umrahmt.",
    ended: "Diese Klasse ist zu Ende.",
    lost: "Keine Verbindung zur Klasse; es wird wieder versucht.",
    language: "Sprache",
    first: "Erster Tipp",
    second: "Zweiter Tipp",
    guesses: "{count} Tipps",
    oneGuess: "1 Tipp",
    start: "Klasse beginnen",
    started: "Klasse {code}",
    here: "{count} da",
    answered: "{answered} von {here} haben getippt",
    open: "Diese Frage stellen",
    reveal: "Tipps aufdecken",
    again: "Besprechen, dann noch einmal tippen",
    tell: "Antwort zeigen",
    covered: "Die Tipps kommen auf den Handys. Hier ist nichts zu sehen, bis Sie sie aufdecken.",
    secondTime: "Zweiter Tipp: Der erste steht dann daneben.",
    hands: "Im Raum gezählte Hände",
    addHands: "Dazu",
    closeDoor: "Tür schließen",
    openDoor: "Tür öffnen",
    end: "Klasse beenden",
    showCode: "Code",
    hideCode: "Code verbergen",
    yourLink: "Ihr Link: Er bringt die Klasse zurück",
    goTo: "Mit dem Handy öffnen:",
    left: "noch {minutes} Minuten",
    asked: "Frage {asked}; in 45 Minuten sind es etwa sechs",
    sendPicture: "Die Handys brauchen Ihr Foto. Soll es gesendet werden? Es verschwindet mit der Klasse.",
    yes: "Senden",
    no: "Nein",
    needsApp:
      "Eine Klasse braucht die App mit ihrem Server: Diese Dateien haben niemanden, der zählt. Man startet sie mit",
    over: "Die Klasse ist zu Ende.",
  },
};

export const CLASS_LANGUAGES = { en: "English", de: "Deutsch" };

export const classWords = (language, key, filled = {}) =>
  CLASS_WORDS[language][key].replace(/\{(\w+)\}/g, (whole, name) => filled[name] ?? whole);

// Of a text that the lecturer's page gave in several languages: {en, de}.
export const inLanguage = (texts, language) => String(texts?.[language] ?? texts?.en ?? "");

export const languageOfPhone = (wanted) =>
  wanted.map((tag) => tag.toLowerCase().split("-")[0]).find((name) => Object.hasOwn(CLASS_WORDS, name)) ?? "en";

export const manyGuesses = (language, count) =>
  count === 1 ? classWords(language, "oneGuess") : classWords(language, "guesses", { count });
