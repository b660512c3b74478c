// Writes multiple-choice questions as files that a learning platform imports: GIFT, and QTI 2.1 in a zip. No DOM.

/** @typedef {{asks: string, options: string[], right: number, why: string}} QuizQuestion */

const numbered = (n) => String(n + 1).padStart(2, "0");

const giftText = (text) => text.replace(/\n/g, " ").replace(/[\\~=#{}:]/g, "\\$&");

/** @param {string} title @param {QuizQuestion[]} questions */
export function giftOf(title, questions) {
  const blocks = questions.map(({ asks, options, right, why }, n) => {
    const answers = options.map((words, option) => `  ${option === right ? "=" : "~"}${giftText(words)}`);
    const name = giftText(`${title} ${numbered(n)}`);
    return [`::${name}::[plain]${giftText(asks)} {`, ...answers, `  ####${giftText(why)}`, "}"].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

const SCHEMAS = "http://www.imsglobal.org/xsd/";
const XML_BEGIN = '<?xml version="1.0" encoding="UTF-8"?>\n';
const xmlText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** @param {string} title @param {QuizQuestion[]} questions @param {string} language */
export function qtiOf(title, questions, language) {
  const names = questions.map((_, n) => `question-${numbered(n)}`);
  const items = questions.map((question, n) => itemXml(names[n], `${title} ${numbered(n)}`, question, language));
  return zipOf({
    "imsmanifest.xml": manifestXml(names),
    "test.xml": testXml(title, names),
    ...Object.fromEntries(names.map((name, n) => [`${name}.xml`, items[n]])),
  });
}

const itemXml = (name, title, { asks, options, right, why }, language) => `${XML_BEGIN}<assessmentItem
  xmlns="${SCHEMAS}imsqti_v2p1" identifier="${name}" title="${xmlText(title)}" xml:lang="${language}"
  adaptive="false" timeDependent="false">
<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier">
  <correctResponse><value>option${right}</value></correctResponse></responseDeclaration>
<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>
<outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
<itemBody><choiceInteraction responseIdentifier="RESPONSE" shuffle="false" maxChoices="1">
  <prompt>${xmlText(asks)}</prompt>
${options.map((words, n) => `  <simpleChoice identifier="option${n}">${xmlText(words)}</simpleChoice>`).join("\n")}
</choiceInteraction></itemBody>
<responseProcessing>
  <responseCondition><responseIf><match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>
    ${outcome("SCORE", "float", 1)}</responseIf></responseCondition>
  ${outcome("FEEDBACK", "identifier", "why")}</responseProcessing>
<modalFeedback outcomeIdentifier="FEEDBACK" identifier="why" showHide="show">${xmlText(why)}</modalFeedback>
</assessmentItem>`;

const outcome = (name, type, value) =>
  `<setOutcomeValue identifier="${name}"><baseValue baseType="${type}">${value}</baseValue></setOutcomeValue>`;

const testXml = (title, names) => `${XML_BEGIN}<assessmentTest
  xmlns="${SCHEMAS}imsqti_v2p1" identifier="test" title="${xmlText(title)}">
<testPart identifier="part" navigationMode="nonlinear" submissionMode="individual">
<assessmentSection identifier="section" title="${xmlText(title)}" visible="true">
${names.map((name) => `  <assessmentItemRef identifier="${name}" href="${name}.xml"/>`).join("\n")}
</assessmentSection></testPart></assessmentTest>`;

const manifestXml = (names) => `${XML_BEGIN}<manifest xmlns="${SCHEMAS}imscp_v1p1" identifier="manifest">
<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>
<organizations/>
<resources>
${resourceXml("test", "test", names.map((name) => `<dependency identifierref="${name}"/>`).join(""))}
${names.map((name) => resourceXml(name, "item")).join("\n")}
</resources></manifest>`;

const resourceXml = (name, type, inside = "") => `<resource identifier="${name}" type="imsqti_${type}_xmlv2p1"
  href="${name}.xml"><file href="${name}.xml"/>${inside}</resource>`;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
/** @param {Uint8Array} bytes */
const crcOf = (bytes) => ~bytes.reduce((crc, byte) => CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8), -1) >>> 0;

// {name: text} as the bytes of a zip, not compressed.
function zipOf(files) {
  /** @type {Uint8Array[][]} */
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [nameBytes, bytes] = [name, text].map((words) => new TextEncoder().encode(words));
    // version, UTF-8 names, stored, 1980-01-01
    const facts = [20, 0x800, 0, 0, 33, [crcOf(bytes)], [bytes.length], [bytes.length], nameBytes.length, 0];
    parts.push(zipRecord([[0x04034b50], ...facts]), nameBytes, bytes);
    directory.push(zipRecord([[0x02014b50], 20, ...facts, 0, 0, 0, [0], [offset]]), nameBytes);
    offset += 30 + nameBytes.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = Object.keys(files).length;
  const end = zipRecord([[0x06054b50], 0, 0, count, count, [size], [offset], 0]);
  return new Blob(/** @type {BlobPart[]} */ ([...parts, ...directory, end]), { type: "application/zip" });
}

// Numbers of two bytes; those in [ ] have four.
function zipRecord(numbers) {
  const shorts = numbers.flatMap((x) => (Array.isArray(x) ? [x[0] & 0xffff, x[0] >>> 16] : [x]));
  const view = new DataView(new ArrayBuffer(2 * shorts.length));
  for (const [n, short] of shorts.entries()) view.setUint16(2 * n, short, true);
  return new Uint8Array(view.buffer);
}
