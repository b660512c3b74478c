// Canvases under Node. A context records in `drawn` each call, [function, ...arguments]; the call's `style` holds the
// properties of the context at that moment. Of a painted ImageData it records a copy.

const FIRST_STYLE = { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1 };

export function aContext(canvas) {
  const drawn = [];
  const savedStyles = [];
  let style = FIRST_STYLE;
  const record = (name, args) => {
    if (name === "save") savedStyles.push(style);
    if (name === "restore") style = savedStyles.pop() ?? style;
    drawn.push(Object.defineProperty([name, ...args.map(copied)], "style", { value: style }));
  };
  const fields = {
    canvas,
    drawn,
    createImageData: (width, height) => new ImageData(width, height),
    getImageData: (_x, _y, width, height) => new ImageData(width, height),
    measureText: (text) => ({ width: 7 * text.length }),
  };
  return new Proxy(fields, {
    get: (_, name) => fields[name] ?? style[name] ?? ((...args) => record(name, args)),
    set(_, name, value) {
      style = { ...style, [name]: value };
      return true;
    },
  });
}

const copied = (item) => (item instanceof ImageData ? new ImageData(item.data.slice(), item.width, item.height) : item);

// The recorded calls of these functions.
export const callsOf = ({ drawn }, ...names) => drawn.filter(([name]) => names.includes(name));

function getContext() {
  this.context ??= aContext(this);
  return this.context;
}

export const defineCanvas = (page) => Object.assign(page.HTMLCanvasElement.prototype, { getContext });

Object.assign(globalThis, {
  ImageData: class {
    constructor(dataOrWidth, widthOrHeight, heightOfData) {
      const isSize = typeof dataOrWidth === "number";
      this.data = isSize ? new Uint8ClampedArray(4 * dataOrWidth * widthOrHeight) : dataOrWidth;
      [this.width, this.height] = isSize ? [dataOrWidth, widthOrHeight] : [widthOrHeight, heightOfData];
    }
  },
  OffscreenCanvas: class {
    getContext = getContext;
    constructor(width, height) {
      Object.assign(this, { width, height });
    }
  },
  Path2D: function Path2D() {
    return aContext(null);
  },
});
