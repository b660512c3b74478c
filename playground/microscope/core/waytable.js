// The ways to look, as in playground/figures/drawing/ways.py, and the words of each on the page. FORETOLD has the means
// of the table of analysis/faithfulness.py; tests/figures/test_every_way.py compares both.

export const WAY_USUAL =
{"needs":"features","exposed":"spread","unit":"share","unitOfLabel":"","asksAPatch":true,"throughLayers":false,
"raw":false,"explains":"","attributes":false,"resembles":false,"uses":[],"sentence":"most","extra":true,
"pack":"","signed":false,"ofHeads":false,"coloured":false,"spread":false,"rows":false,"offer":"features"};

export const WAY_RECORDS = [
{"name":"weight","needs":"scores","exposed":"brightest","uses":["ceiling"],"sentence":"looks","extra":false,
"ofHeads":true,"rows":true,"offer":""},
{"name":"value","needs":"scores","exposed":"brightest","unit":"length","uses":["ceiling"],"sentence":"arrives",
"extra":false,"pack":"value_norms","ofHeads":true,"offer":""},
{"name":"contribution","needs":"values","exposed":"largest","unit":"length","signed":true,"sentence":"parts",
"extra":false,"ofHeads":true,"offer":"values"},
{"name":"similarity","unit":"cosine","resembles":true,"sentence":"resembles","extra":false,"spread":true},
{"name":"components","exposed":"colours","unit":"","asksAPatch":false,"sentence":"coloured","extra":false,
"coloured":true},
{"name":"score","needs":"scores","unit":"","raw":true,"sentence":"best","ofHeads":true,"spread":true,
"offer":""},
{"name":"norm","unit":"length","asksAPatch":false,"spread":true},
{"name":"rollout","needs":"flows","exposed":"largest","throughLayers":true,"attributes":true,"sentence":"flows",
"offer":"rollout"},
{"name":"relevance","needs":"network","exposed":"largest","throughLayers":true,"explains":"patch",
"attributes":true,"uses":["label","method","signed"],"sentence":"moves","offer":"relevance"},
{"name":"occlusion","needs":"network","exposed":"largest","unitOfLabel":"logits","throughLayers":true,
"explains":"patch","uses":["label","blank"],"sentence":"blanked","offer":"occlusion"},
{"name":"text","needs":"network","unit":"cosine","asksAPatch":false,"explains":"text","uses":["text"],
"extra":false,"spread":true,"offer":"text"},
{"name":"label","needs":"network","exposed":"largest","asksAPatch":false,"explains":"label","uses":["label"],
"offer":"label"},
];

export const FORETOLD =
{"bundled":{"rollout":0.26,"relevance":0.61,"random":-0.01,"constant":0,"pictures":100},
"dinov2-small":{"rollout":0.45,"relevance":0.61,"random":-0.02,"constant":0,"pictures":100}};

export const WAY_WORDS = {
"en":{
beside:{
"blanked.mean":"the mean colour",
"blanked.noise":"noise",
"blanked.neighbours":"what is around",
"trust":"Rank correlation with blanking, mean of {pictures} photographs: {correlation} (a random map " +
"{random}, a constant one {constant}).",
"trust.here":"Relevance foretells what blanking moves with a rank correlation of {correlation} ({blocks} blocks, " +
"by {blank}; a random map {random}, a constant one {constant}).",
"trust.none":"How well it foretells what blanking moves was not measured in this model.",
},
tab:{
"weight":"weight",
"value":"weight × ‖W<sub>O</sub> v‖",
"contribution":"contribution",
"similarity":"similarity",
"components":"colours",
"score":"raw score",
"norm":"length",
"rollout":"rollout",
"relevance":"relevance",
"occlusion":"occlusion",
"text":"text",
"label":"label",
},
hint:{
"weight":"",
"value":"the length of what arrives: the weight times the length of the value after the output matrix",
"contribution":"weight times value, along what this head writes: signed parts of its length",
"similarity":"cosine of this patch's features to every other patch's",
"components":"the first three principal components of this layer's features as red, green and blue",
"score":"q·k times the scale, before the softmax",
"norm":"how long each token's feature vector is",
"rollout":"half attention, half identity for the skip connection, multiplied through all layers",
"relevance":"which patches move the locked patch's feature or a label, through all layers",
"occlusion":"what really moves when patches are blanked",
"text":"which patches are like a text that you type",
"label":"how likely a label is, if the classifier read each patch after this layer (logit lens)",
},
note:{
"weight":"A weight says how much of a patch is mixed in, not how important it is.",
"weight.column":"what each patch takes from this one",
"value":"the length of what arrives: a short value vector carries little, whatever its weight",
"contribution":"weight × value, along what the head writes: the parts sum to its length; blue and hatched: against" +
" it. It does not say what later layers make of it (Cunningham, Muca Cirone, 2026)",
"score":"q·k × scale, before the softmax",
"similarity":"cosine of the features after this layer",
"components":"features: 3 principal components as colours",
"norm":"length of each token's features after this layer",
"rollout":"(attention + identity) / 2 through all layers; no values, no MLPs: a sink takes most of it",
"relevance":"the feature's score handed down through all layers (AttnLRP), as shares",
"relevance.label":"the label's score handed down through all layers (AttnLRP), as shares; blue and hatched: against it",
"occlusion":"how far the feature moves when a patch is blanked, in parts of its length",
"occlusion.label":"what the label loses when a patch is blanked, in logits; blue and hatched: it gains",
"text":"cosine with the text, if the model read each patch alone after this layer",
"label":"logit lens: the last norm and the classifier read each patch after this layer",
},
sentence:{
"looks":"{outside} of its attention lies outside its {k}×{k} neighbourhood{special}",
"looks.token":"{outside} of its attention lies on the picture's patches{special}",
"special":".",
"special.one":"; {names} gets {taken}.",
"special.several":"; {names} get {taken}.",
"heard":"{opening}{who} is looked at {share} as much as the average token, the most from {place}.",
"heard.gives":"{opening}{who} is looked at {share} as much as the average token, the most from {place}, which gives" +
" it {amount} of its own.",
"times":"{times} times",
"arrives":"{opening}counting how long the values are, {share} of what {who} mixes comes from outside its " +
"{k}×{k} neighbourhood, the most from {place} ({amount}).",
"arrives.token":"{opening}counting how long the values are, {share} of what {who} mixes comes from the picture's " +
"patches, the most from {place} ({amount}).",
"parts":"{opening}into {who} this head writes a vector of length {total}: {place} adds most to it ({value}), " +
"{other} works most against it ({less}){special}.",
"parts.alone":"{opening}into {who} this head writes a vector of length {total}: {place} adds most to it ({value}), " +
"next to nothing works against it{special}.",
"parts.none":"{opening}into {who} this head writes a vector of length {total}, to which no patch adds{special}.",
"parts.special":"; {names}: {taken}",
"best":"{opening}{who} asks, and the best answer comes from {place}: a score of {value} before the softmax.",
"resembles":"what resembles {who} most, in this layer's features, is {place}: a cosine of {value}.",
"coloured":"Patches of one colour have features of one kind, in this layer.",
"flows":"By rollout, which counts weights alone, {share} of what reaches {who} from the picture comes from " +
"outside its {k}×{k} neighbourhood, the most from {place} ({amount}).",
"flows.token":"By rollout, which counts weights alone, {share} of what reaches {who} from the picture comes from " +
"patches of the picture, the most from {place} ({amount}).",
"moves":"Through all layers together, {share} of what moves the feature of {who} lies outside its {k}×{k} " +
"neighbourhood, the most {within} ({amount}).",
"moves.token":"Through all layers together, {share} of what moves the feature of {who} lies in patches of the " +
"picture, the most {within} ({amount}).",
"moves.label":"Through all layers, {place} speaks most for {label} ({value}), {other} most against it ({less}).",
"moves.alone":"Through all layers, {place} speaks most for {label} ({value}), nothing against it.",
"blanked":"Blanking moves the feature of {who} most {block}: by {amount} for a patch.",
"blanked.label":"Blanking {place} takes most from {label} ({value}), blanking {other} gives it most ({less}).",
"blanked.alone":"Blanking {place} takes most from {label} ({value}), and nothing that is blanked gives it more.",
"against":"Nothing in the picture speaks for {label}, most against it {place} ({less}).",
"against.alone":"Nothing in the picture speaks for {label} or against it.",
"unmoved":"Nothing here moves {what}: blanking changes it by less than {least}, whatever block it takes.",
"waiting":"The numbers are on their way.",
"waiting.asks":"{opening}{who}: the numbers are on their way.",
"filter":"The filter gives {share} to places outside the {k}×{k} neighbourhood, most of all to {place} " +
"({amount}).",
"filter.near":"The filter gives {share} to places outside the {k}×{k} neighbourhood; the strongest is a neighbour, " +
"{place} ({amount}).",
"patch":"this patch",
"feature":"the feature of {who}",
"itself":"itself",
"quoted":"“{label}”",
"place":"row {row}, column {column}",
"opening":"{scale}, ",
"within":"at {place}",
"within.here":"{place}",
"within.itself":"in {place}",
"block":"at {place}",
"block.here":"{place}",
"block.itself":"patch {place}",
"norm":"This layer's longest feature vector stands {within}: its length is {value}.",
"label":"After this layer {label} is likeliest {within} ({value}).",
"text":"Most like {label} is the patch {within}: a cosine of {value}.",
},
pair:{
"contribution.for":"adds {value} to what is written",
"contribution.against":"works against it by {value}",
"similarity":"cosine {value}",
"components":"cosine {value}",
"norm":"length {value}",
"rollout":"gives {value} through all layers",
"relevance":"{value} of what moves it",
"relevance.for":"{value} of what moves it, for it",
"relevance.against":"{value} of what moves it, against it",
"occlusion":"blanked: moves it by {value}",
"occlusion.for":"blanked: it loses {value}",
"occlusion.against":"blanked: it gains {value}",
"text":"cosine {value}",
"label":"says it with {value}",
},
waiting:{
"contribution":"The values of layer {layer} are on their way.",
"similarity":"The features of layer {layer} are on their way.",
"components":"The features of layer {layer} are on their way.",
"norm":"The features of layer {layer} are on their way.",
"rollout":"Attention is followed through all layers…",
"relevance":"The model is run forward and back…",
"occlusion":"Blocks of the picture are blanked…",
"label":"The classifier reads each patch after layer {layer}…",
"text":"The model reads “{text}”…",
},
after:{
"relevance":"Blank patches (occlusion) to see how well this foretells what moves.",
},
},
};
