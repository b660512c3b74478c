"""One colour, one meaning, on every page and figure; they survive colour blindness."""

QUERY, KEY, VALUE, CONVOLUTION = "#0072B2", "#D55E00", "#009E73", "#E7298A"
WEIGHTS, CHANGED = "#B63679", "#E8963A"  # of magma, as weights are; and what is made of them otherwise
MLP, TOKEN = "#7A51BE", "#5B5D66"  # what the MLP adds, the token itself
QUIET = "#83838F"  # on either theme
