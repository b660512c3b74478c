// All that See says, in whole sentences, one table a language. {here} is the marked place in the picture. No DOM here.

export const LANGUAGES = { en: "English", de: "Deutsch" };

export const SEE_WORDS = {
  en: {
    // ---- the sentence
    point: "Point at the picture: where does that patch look?",
    touch: "Touch the picture: where does that patch look?",
    comes: "Reading…",
    far: "This patch looks mostly {here}, far away ({share}).",
    aside: "This patch looks mostly {here}, not far from itself ({share}).",
    near: "This patch looks mostly {here}, right beside itself ({share}).",
    itself: "This patch looks mostly at itself ({share}).",
    named: "This patch looks mostly at {here} ({share}).",
    even: "This patch looks everywhere alike: at no place more than {share}.",
    placeless:
      "This patch gives most to {token}, which has no place ({most}). In the picture it looks {here} ({share}).",
    offFar: "Without ÷ √d_k this patch looks {here}, far away ({share}).",
    offAside: "Without ÷ √d_k this patch looks {here}, not far from itself ({share}).",
    offNear: "Without ÷ √d_k this patch looks {here}, right beside itself ({share}).",
    offItself: "Without ÷ √d_k this patch looks at itself ({share}).",
    offNamed: "Without ÷ √d_k this patch looks at {here} ({share}).",
    offPlaceless:
      "Without ÷ √d_k this patch gives {most} to {token}, which has no place. In the picture it looks {here}.",
    unstriking: "Nothing far apart stands out here. Patches of one colour are alike.",
    here: "here",
    // ---- under it
    from: "layer {layer}, head {head} · one of {count} · brightest from {brightest} · {model}",
    fromNothing: "layer {layer}, head {head} · one of {count} · {model}",
    fromOff: "layer {layer}, head {head} · one of {count} · without ÷ √d_k · brightest from {brightest} · {model}",
    fromCut: "layer {layer}, head {head} · one of {count} · with cuts · brightest from {brightest} · {model}",
    stepThrough: "Arrow keys: another layer or head. Press: all heads.",
    // ---- the two switches
    switchOn: "ON",
    switchOff: "OFF",
    largest: "its {count} largest shares",
    dashedOff: "dashed: without ÷ √d_k the first takes {share}",
    dashedOn: "dashed: with ÷ √d_k the first takes {share}",
    convolution: "3×3 convolution",
    hearsNine: "hears these nine",
    outside: "{share} of what this patch attends to lies outside of them.",
    // ---- drawers
    why: "Why",
    heads: "Heads",
    numbers: "Numbers",
    // ---- moments
    moments: "Moments of this picture",
    momentFar: "far away",
    momentNear: "near",
    momentSink: "a sink",
    momentSame: "the same thing",
    momentParts: "{from} → {to}",
    surprise: "surprise me",
    momentSays: "Show this moment: {name}, layer {layer}, head {head}",
    // ---- the bar
    pictures: "Pictures",
    yourPhoto: "Your photo",
    share: "Share",
    // ---- to send on
    sharePicture: "Picture",
    shareTall: "Three seconds, upright",
    shareWide: "Three seconds, wide",
    sharePage: "Living page",
    shareSave: "Save",
    shareMaking: "Making it …",
    shareMade: "Made in this browser; it goes nowhere until you send it.",
    shareOwn: "Your photograph is in it.",
    shareFailed: "It could not be made: share the picture.",
    tryYours: "Try your own photo",
    lab: "Lab",
    labSays: "Lab: every way to look (key l)",
    see: "See",
    seeSays: "See: one picture, one sentence (key l)",
    language: "Language",
  },
  de: {
    point: "Zeigen Sie auf das Bild: Wohin schaut dieses Feld?",
    touch: "Tippen Sie auf das Bild: Wohin schaut dieses Feld?",
    comes: "Wird gelesen…",
    far: "Dieses Feld schaut vor allem {here}, weit weg ({share}).",
    aside: "Dieses Feld schaut vor allem {here}, nicht weit von sich ({share}).",
    near: "Dieses Feld schaut vor allem {here}, gleich neben sich ({share}).",
    itself: "Dieses Feld schaut vor allem auf sich selbst ({share}).",
    named: "Dieses Feld schaut vor allem auf {here} ({share}).",
    even: "Dieses Feld schaut überallhin gleich: nirgends mehr als {share}.",
    placeless:
      "Dieses Feld gibt am meisten an {token}, das keinen Ort hat ({most}). Im Bild schaut es {here} ({share}).",
    offFar: "Ohne ÷ √d_k schaut dieses Feld {here}, weit weg ({share}).",
    offAside: "Ohne ÷ √d_k schaut dieses Feld {here}, nicht weit von sich ({share}).",
    offNear: "Ohne ÷ √d_k schaut dieses Feld {here}, gleich neben sich ({share}).",
    offItself: "Ohne ÷ √d_k schaut dieses Feld auf sich selbst ({share}).",
    offNamed: "Ohne ÷ √d_k schaut dieses Feld auf {here} ({share}).",
    offPlaceless: "Ohne ÷ √d_k gibt dieses Feld {most} an {token}, das keinen Ort hat. Im Bild schaut es {here}.",
    unstriking: "Nichts weit Entferntes sticht hier heraus. Felder einer Farbe sind sich ähnlich.",
    here: "hierhin",
    from: "Schicht {layer}, Kopf {head} · einer von {count} · am hellsten ab {brightest} · {model}",
    fromNothing: "Schicht {layer}, Kopf {head} · einer von {count} · {model}",
    fromOff: "Schicht {layer}, Kopf {head} · einer von {count} · ohne ÷ √d_k · am hellsten ab {brightest} · {model}",
    fromCut: "Schicht {layer}, Kopf {head} · einer von {count} · mit Schnitten · am hellsten ab {brightest} · {model}",
    stepThrough: "Pfeiltasten: andere Schicht, anderer Kopf. Drücken: alle Köpfe.",
    switchOn: "AN",
    switchOff: "AUS",
    largest: "die {count} größten Anteile",
    dashedOff: "gestrichelt: ohne ÷ √d_k nimmt der erste {share}",
    dashedOn: "gestrichelt: mit ÷ √d_k nimmt der erste {share}",
    convolution: "3×3-Faltung",
    hearsNine: "hört diese neun",
    outside: "{share} dessen, was dieses Feld beachtet, liegt außerhalb davon.",
    why: "Warum",
    heads: "Köpfe",
    numbers: "Zahlen",
    moments: "Momente dieses Bildes",
    momentFar: "weit weg",
    momentNear: "nah",
    momentSink: "eine Senke",
    momentSame: "dasselbe Ding",
    momentParts: "{from} → {to}",
    surprise: "überrasch mich",
    momentSays: "Diesen Moment zeigen: {name}, Schicht {layer}, Kopf {head}",
    pictures: "Bilder",
    yourPhoto: "Ihr Foto",
    share: "Teilen",
    sharePicture: "Bild",
    shareTall: "Drei Sekunden, hoch",
    shareWide: "Drei Sekunden, breit",
    sharePage: "Lebendige Seite",
    shareSave: "Speichern",
    shareMaking: "Wird gemacht …",
    shareMade: "In diesem Browser gemacht; es geht nirgendwohin, bis Sie es senden.",
    shareOwn: "Ihr Foto ist darin.",
    shareFailed: "Das ging nicht: Teilen Sie das Bild.",
    tryYours: "Mit Ihrem eigenen Foto",
    lab: "Labor",
    labSays: "Labor: alle Arten hinzusehen (Taste l)",
    see: "Sehen",
    seeSays: "Sehen: ein Bild, ein Satz (Taste l)",
    language: "Sprache",
  },
};

// What parts of the samples are called (playground/samples.py): {one, other: where another of its kind asks, short}
export const PART_NAMES = {
  en: {
    eye: { one: "the eye", other: "the other eye", short: "eye" },
    nose: { one: "the nose", other: "the nose", short: "nose" },
    cup: { one: "the cup", other: "the cup", short: "cup" },
    coffee: { one: "the coffee", other: "the coffee", short: "coffee" },
    spoon: { one: "the spoon", other: "the spoon", short: "spoon" },
    badge: { one: "a badge", other: "the other badge", short: "badge" },
    face: { one: "the face", other: "the face", short: "face" },
    helmet: { one: "the helmet", other: "the helmet", short: "helmet" },
    shuttle: { one: "the shuttle", other: "the shuttle", short: "shuttle" },
    tower: { one: "a tower", other: "the other tower", short: "tower" },
    rocket: { one: "the rocket", other: "the rocket", short: "rocket" },
    leg: { one: "a leg of the tripod", other: "another leg", short: "leg" },
    head: { one: "the man’s head", other: "the man’s head", short: "head" },
    camera: { one: "the camera", other: "the camera", short: "camera" },
  },
  de: {
    eye: { one: "das Auge", other: "das andere Auge", short: "Auge" },
    nose: { one: "die Nase", other: "die Nase", short: "Nase" },
    cup: { one: "die Tasse", other: "die Tasse", short: "Tasse" },
    coffee: { one: "den Kaffee", other: "den Kaffee", short: "Kaffee" },
    spoon: { one: "den Löffel", other: "den Löffel", short: "Löffel" },
    badge: { one: "ein Abzeichen", other: "das andere Abzeichen", short: "Abzeichen" },
    face: { one: "das Gesicht", other: "das Gesicht", short: "Gesicht" },
    helmet: { one: "den Helm", other: "den Helm", short: "Helm" },
    shuttle: { one: "die Raumfähre", other: "die Raumfähre", short: "Raumfähre" },
    tower: { one: "einen Turm", other: "den anderen Turm", short: "Turm" },
    rocket: { one: "die Rakete", other: "die Rakete", short: "Rakete" },
    leg: { one: "ein Stativbein", other: "ein anderes Bein", short: "Bein" },
    head: { one: "den Kopf des Mannes", other: "den Kopf des Mannes", short: "Kopf" },
    camera: { one: "die Kamera", other: "die Kamera", short: "Kamera" },
  },
};

// The first language of the browser that there is a table for; English else.
export const languageOf = (wanted) =>
  wanted.map((tag) => tag.toLowerCase().split("-")[0]).find((name) => Object.hasOwn(SEE_WORDS, name)) ?? "en";

const filledIn = (sentence, filled) => sentence.replace(/\{(\w+)\}/g, (whole, name) => filled[name] ?? whole);

export const seeWords = (language, key, filled = {}) => filledIn(SEE_WORDS[language][key], filled);

// The sentence around the marked place: {before, place, after}.
export function aroundPlace(language, key, filled, place) {
  const [before, after] = SEE_WORDS[language][key].split("{here}").map((half) => filledIn(half, filled));
  return after === undefined ? { before, place: "", after: "" } : { before, place, after };
}
