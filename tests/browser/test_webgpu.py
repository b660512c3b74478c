"""The engine on WebGPU, in Chromium with its software adapter: numbers within 1e-3 of the WebAssembly kernels', which
take over where the GPU fails or is slower."""

import shutil

import pytest
from conftest import SMALL, scramble

from browser.chromium import find, install
from browser.visitor import LAUNCH
from browser.without_server import plain_server
from playground.figures.bundle import MICROSCOPE
from playground.models import engine_file
from playground.models.engine_file import to_engine
from playground.vit import Config, VisionTransformer

ADAPTER_FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
ARCHITECTURES = {
    "plain": {"layer_scale": True},
    "rotary, q/k norm, SwiGLU": {"positions": "rotary", "qk_norm": True, "gated_mlp": True, "activation": "silu"},
    "CLIP": {"pre_norm": True, "activation": "quick_gelu"},
    "map pool": {"cls_token": False, "registers": 0, "pool": "map", "activation": "gelu_tanh"},
    "two teachers, the paper's head": {"dist_token": True, "pre_logits": True, "activation": "relu"},
}
MOST_DIFFERENCE = 1e-3  # largest difference, relative to the largest number of an array
PAGE = """<!doctype html><link rel="icon" href="data:,"><script type="module">
import { createComputer } from "./microscope/engine/computer.js";
import { createGpuPasses } from "./microscope/engine/faster/webgpu.js";
import { decodeHalves } from "./microscope/core/core.js";

const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
window.devices = [];
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (how) {
  devices.push(await request.call(this, how));
  return devices.at(-1);
};

// A computer with this network; pass() gives what it says, and hears each layer.
window.begin = async (weights, always) => {
  const heard = new Map();
  const say = (message) => heard.get(message.id)?.(message);
  const gpu = createGpuPasses(navigator.gpu, always);
  const noise = (_, __, height, width) =>
    Uint8ClampedArray.from({ length: 4 * height * width }, (_, i) => 128 + 120 * Math.sin(i * 0.37) * Math.cos(i / 91));
  const computer = createComputer(say, noise, gpu);
  computer.hear({ what: "kernels", compiled: await WebAssembly.compile(await read("microscope/engine/kernels.wasm")) });
  computer.hear({ what: "network", model: "small", weights: await read(weights) });
  let ids = 0;
  return (how = {}, onLayer = () => {}) =>
    new Promise((go, failed) => {
      const [id, layers] = [++ids, []];
      heard.set(id, (message) => {
        if (message.error) return failed(new Error(message.error));
        if (message.done) return go({ layers, logits: message.done.logits });
        layers.push(message);
        onLayer(message);
      });
      const picture = { id: "noise", bitmap: { close() {} } };
      computer.hear({ what: "pass", id, model: "small", picture, grid: [6, 9], scale: null, cuts: [], ...how });
    });
};
window.engines = ({ layers }) => layers.map(({ engine }) => engine);

// The largest difference of two passes, as a share of the largest number of its array.
window.apart = (ours, theirs) => {
  const parts = ["q", "k", "features", "norms"];
  const numbers = (array) => (array instanceof Uint16Array ? decodeHalves(array) : array);
  const pairs = ours.layers.flatMap((layer, i) => parts.map((part) => [layer[part], theirs.layers[i][part]]));
  return Math.max(...[...pairs, [ours.logits, theirs.logits]].map(([a, b]) => {
    const [one, other] = [numbers(a), numbers(b)];
    const largest = Math.max(...one.map(Math.abs));
    return Math.max(...one.map((x, i) => Math.abs(x - other[i]))) / largest;
  }));
};
document.body.dataset.ready = "";
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out_folder = tmp_path_factory.mktemp("webgpu")
    shutil.copytree(MICROSCOPE, out_folder / "microscope")
    (out_folder / "index.html").write_text(PAGE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_file, "origin", lambda name: engine_file.Origin("MIT", "a test", "nowhere"))
        for number, config_changes in enumerate(ARCHITECTURES.values()):
            vit = scramble(VisionTransformer(Config(**{**SMALL.__dict__, **config_changes})))
            for number_kind in ("int8", "float32"):
                (out_folder / f"{number}-{number_kind}.bin").write_bytes(to_engine(vit, number_kind))
    return out_folder


@pytest.fixture(scope="module")
def page(chromium, folder):
    if chromium.browser_type.name != "chromium":
        pytest.skip("its software adapter is Chromium's")
    with plain_server(folder) as url:
        flags = [flag for flag in LAUNCH if flag != "--disable-gpu"]
        browser = chromium.browser_type.launch(executable_path=find() or install(), args=[*flags, *ADAPTER_FLAGS])
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("body[data-ready]", state="attached")
        yield page
        browser.close()


@pytest.mark.parametrize("number_kind", ["int8", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "architecture",
    [*list(ARCHITECTURES)[:1], *(pytest.param(name, marks=pytest.mark.slow) for name in list(ARCHITECTURES)[1:])],
)
def test_a_pass_on_the_gpu_gives_the_numbers_of_the_kernels(page, architecture, number_kind):
    script = """async (weights) => {
      const [here, there] = [await begin(weights, false), await begin(weights, true)];
      const found = [];
      for (const scale of [null, 1]) {
        const [ours, theirs] = [await here({ scale }), await there({ scale })];
        found.push([engines(ours), engines(theirs), apart(ours, theirs)]);
      }
      return found;
    }"""
    weights = f"{list(ARCHITECTURES).index(architecture)}-{number_kind}.bin"
    for kernel_engines, gpu_engines, difference in page.evaluate(script, weights):
        assert kernel_engines == ["WebAssembly"] * SMALL.depth
        assert gpu_engines == ["WebGPU"] * SMALL.depth
        assert 0 < difference < MOST_DIFFERENCE


def test_what_a_cut_changes_is_computed_by_the_kernels(page):
    script = """async () => {
      const there = await begin("0-int8.bin", true);
      return [engines(await there({ cuts: ["*>cls@0"] })), engines(await there())];
    }"""
    assert page.evaluate(script) == [["WebAssembly"] * SMALL.depth, ["WebGPU"] * SMALL.depth]


def test_a_device_that_is_lost_in_a_pass_loses_nothing(page):
    script = """async () => {
      const [here, there] = [await begin("0-int8.bin", false), await begin("0-int8.bin", true)];
      const lose = ({ layer }) => layer === 0 && devices.at(-1).destroy();
      const [ours, theirs] = [await here(), await there({}, lose)];
      return [theirs.layers.map(({ layer }) => layer), engines(theirs), engines(await there()), apart(ours, theirs)];
    }"""
    layers, engines, engines_after, difference = page.evaluate(script)
    assert layers == list(range(SMALL.depth))
    assert engines == ["WebGPU", *["WebAssembly"] * (SMALL.depth - 1)]
    assert engines_after == ["WebAssembly"] * SMALL.depth
    assert difference < MOST_DIFFERENCE


def test_a_gpu_without_room_for_the_network_is_not_used(page):
    script = """async () => {
      const made = GPUDevice.prototype.createBuffer;
      GPUDevice.prototype.createBuffer = function ({ size, usage }) {
        return made.call(this, { size: usage & GPUBufferUsage.STORAGE ? this.limits.maxBufferSize + 4 : size, usage });
      };
      const there = await begin("0-int8.bin", true);
      try {
        return engines(await there());
      } finally {
        GPUDevice.prototype.createBuffer = made;
      }
    }"""
    assert page.evaluate(script) == ["WebAssembly"] * SMALL.depth


def test_a_gpu_that_is_slower_than_the_kernels_is_tried_once_and_not_used(page):
    script = """async () => {
      const [there, before] = [await begin("0-int8.bin", false), devices.length];
      const found = [engines(await there())];
      while (devices.length === before) await new Promise((go) => setTimeout(go, 50));
      const gone = devices.at(-1).lost;
      while (!(await Promise.race([gone, new Promise((go) => setTimeout(go, 50))]))) found.push(engines(await there()));
      return [...found, engines(await there())].flat();
    }"""
    engines = page.evaluate(script)
    assert len(engines) >= 3 * SMALL.depth
    assert set(engines) == {"WebAssembly"}
