// For tests: runs Python, reads the fixture, and names the repository's and the microscope's folders.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const MICROSCOPE = join(ROOT, "playground", "microscope");

// The bits of the nearest float16 numbers; too large numbers become the largest.
export const toHalves = (values) =>
  new Uint16Array(globalThis.Float16Array.from(values, (x) => Math.min(65504, Math.max(-65504, x))).buffer);

let interpreter = null;

export function python() {
  interpreter ??= findPython();
  return interpreter;
}

function findPython() {
  const candidates = [process.env.PYTHON, join(ROOT, ".venv", "bin", "python"), "python3", "python"].filter(Boolean);
  const workingPython = candidates.find((name) => spawnSync(name, ["-c", "import numpy"]).status === 0);
  if (!workingPython) throw new Error("These tests compare with numpy: set PYTHON to an interpreter that has it.");
  return workingPython;
}

export function fixture() {
  const folder = mkdtempSync(join(tmpdir(), "microscope-"));
  execFileSync(python(), [join(ROOT, "tests", "js", "fixture.py"), folder]);
  const bytes = readFileSync(join(folder, "pack.bin"));
  const eightBitBytes = new Uint8Array(readFileSync(join(folder, "eight_bits.bin")));
  return {
    bytes: new Uint8Array(bytes),
    eightBitBytes,
    ...JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")),
  };
}

// Runs Python lines that use playground/figures/bundle.py. It is loaded without its package, which may need torch.
export function withBundle(lines, ...args) {
  const program = `
import importlib.util, sys
spec = importlib.util.spec_from_file_location("bundle", r"${join(ROOT, "playground", "figures", "bundle.py")}")
bundle = importlib.util.module_from_spec(spec); spec.loader.exec_module(bundle)
${lines}`;
  return execFileSync(python(), ["-c", program, ...args], { maxBuffer: 1 << 26 });
}
