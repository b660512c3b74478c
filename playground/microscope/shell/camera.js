// A photograph from the camera of a computer. Nobody is asked for their camera who has not pressed the button.
// (A phone has a better way: an input with `capture`, see openpicture.js.)

export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia); // none on a page without https

// Turns `button` into the camera's picture with a button to take it. `take` gets a file.
export async function startCamera(button, take, signal) {
  button.disabled = true;
  let stream = null;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    const trouble = document.createElement("p");
    trouble.className = "trouble";
    trouble.setAttribute("role", "alert");
    trouble.textContent = "The camera can't be used: the browser has none, or is not allowed to use it.";
    return button.replaceWith(trouble);
  }
  const stop = () => stream.getTracks().forEach((track) => track.stop());
  if (signal.aborted) return stop(); // the sheet was closed meanwhile
  signal.addEventListener("abort", stop);
  const video = document.createElement("video");
  Object.assign(video, { srcObject: stream, autoplay: true, muted: true, playsInline: true, className: "camera" });
  const shoot = document.createElement("button");
  Object.assign(shoot, { type: "button", className: "wide main", textContent: "Take the photo", disabled: true });
  video.addEventListener("loadeddata", () => [(shoot.disabled = false), shoot.focus({ preventScroll: true })]);
  shoot.addEventListener("click", () => fileOfFrame(video).then(take));
  button.replaceWith(video, shoot);
}

async function fileOfFrame(video) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
  return new File([blob], "camera.jpg", { type: blob.type });
}
