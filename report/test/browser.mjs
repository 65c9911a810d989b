// Opens a report page in headless Chromium, uses it as a reader would, and takes screenshots.
//   node browser.mjs PAGE.html OUT-FOLDER [--large]
// Needs Node and a Chromium, nothing else: it speaks the DevTools protocol over a pipe. Exit status 0 passed, 1 failed, 77 no browser.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, out] = process.argv.slice(2);
const large = process.argv.includes("--large");
const browser = [process.env.CHROMIUM, "/usr/lib/chromium/chromium", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find((path) => path !== undefined && path !== "" && existsSync(path));
if (browser === undefined) {
  console.log("no Chromium: the page is not tested (apt-get install chromium, or set CHROMIUM)");
  process.exit(77);
}

const profile = await mkdtemp(join(tmpdir(), "heddle-browser-"));
const child = spawn(browser, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--force-device-scale-factor=1",
  "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: profile } });

let next = 0, rest = "";
const waiting = new Map(), requests = [], errors = [];
let loaded = () => {};
child.stdio[4].on("data", (chunk) => {
  const messages = (rest + chunk).split("\0");
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id !== undefined) {
      const { resolve, reject, method } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error !== undefined) reject(new Error(`${method}: ${message.error.message}`));
      else resolve(message.result);
    } else if (message.method === "Network.requestWillBeSent") requests.push(message.params.request.url);
    else if (message.method === "Page.loadEventFired") loaded();
    else if (message.method === "Runtime.exceptionThrown") errors.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
    else if (message.method === "Log.entryAdded" && message.params.entry.level === "error") errors.push(message.params.entry.text);
  }
});
let session;
function send(method, params = {}) {
  const id = ++next;
  child.stdio[3].write(`${JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) })}\0`);
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject, method }));
}

let failures = 0;
function check(what, condition, seen = "") {
  if (condition) return;
  ++failures;
  console.log(`FAILED: ${what}${seen === "" ? "" : `: ${JSON.stringify(seen)}`}`);
}
async function ask(expression) {
  const answer = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (answer.exceptionDetails !== undefined) throw new Error(`${expression}: ${answer.exceptionDetails.exception?.description}`);
  return answer.result.value;
}
const settle = () => ask("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 30))))");
async function shot(name, whole = true) {
  await settle();
  const { cssContentSize: size } = await send("Page.getLayoutMetrics");
  const clip = whole ? { x: 0, y: 0, width: size.width, height: size.height, scale: 1 } : undefined;
  const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole, ...(clip && { clip }) });
  await writeFile(join(out, `${name}.png`), Buffer.from(data, "base64"));
}
const mouse = (type, x, y, more = {}) => send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1, ...more });
async function click(x, y) {
  await mouse("mouseMoved", x, y);
  await mouse("mousePressed", x, y);
  await mouse("mouseReleased", x, y);
  await settle();
}
async function middle(selector) {
  await ask(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({block: "center", behavior: "instant"})`);
  return ask(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return {x: b.x + b.width / 2, y: b.y + b.height / 2, left: b.x, top: b.y, width: b.width, height: b.height}; })()`);
}
async function key(name, code = name, modifiers = 0) {
  await send("Input.dispatchKeyEvent", { type: "keyDown", key: name, code, modifiers, ...(name.length === 1 ? { text: name } : {}) });
  await send("Input.dispatchKeyEvent", { type: "keyUp", key: name, code, modifiers });
  await settle();
}
const text = (selector) => ask(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`);
// What the canvas shows, as a number that changes with it.
const picture = () => ask(`(() => { const c = document.querySelector(".timeline canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let sum = 0, ink = 0; for (let i = 0; i < d.length; i += 4) { sum = (sum * 31 + d[i] * 3 + d[i + 1] * 5 + d[i + 2] * 7) % 1000000007; if (d[i + 3] > 0) ++ink; } return {sum, ink}; })()`);

try {
  await mkdir(out, { recursive: true });
  const { targetInfos } = await send("Target.getTargets");
  const target = targetInfos.find((t) => t.type === "page");
  session = (await send("Target.attachToTarget", { targetId: target.targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`);
  await send("Emulation.setDeviceMetricsOverride", { width: 1440, height: 900, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "light" }] });

  const started = performance.now();
  const done = new Promise((r) => (loaded = r));
  await send("Page.navigate", { url: pathToFileURL(resolve(page)).href });
  await done;
  await ask(`new Promise((r) => { const look = () => document.documentElement.dataset.ready === "1" ? r() : requestAnimationFrame(look); look(); })`);
  const seconds = (performance.now() - started) / 1000;
  const events = await ask(`JSON.parse(document.getElementById("data").textContent).runs.reduce((s, r) => s + r.events, 0)`);
  console.log(`loaded and drawn: ${events} events in ${seconds.toFixed(2)} s`);

  check("nothing but the page is asked for", requests.every((url) => url.startsWith("file:") || url.startsWith("about:") || url.startsWith("data:")), requests);
  check("a heading for the program", (await text("h1")) !== "");
  const before = await picture();
  check("the timeline is drawn", before.ink > 5000, before);
  const place = await ask(`(() => { const b = document.querySelector(".timeline canvas").getBoundingClientRect(); return {top: b.top, width: b.width, page: innerWidth, height: innerHeight}; })()`);
  check("the timeline begins in the upper half of the first screen", place.top < place.height / 2, place);
  check("the timeline has the whole width", place.width > place.page - 110, place);
  check("every run has a diagnosis, or is called sound", await ask(`[...document.querySelectorAll(".diagnosis > div")].length === document.querySelectorAll(".timeline").length`));
  if (!large) await shot("light");

  // A click on the lane of a worker selects a slice and tells its name.
  const canvas = await middle(".timeline canvas");
  let told = "";
  for (let part = 0.3; part < 0.9 && told === ""; part += 0.037) {
    await click(canvas.left + 92 + (canvas.width - 94) * part, canvas.top + 108 + 7);
    told = await text(".timeline .selected");
  }
  check("a click tells the slice", /^worker \d+: /.test(told), told);

  // Zoom with the wheel, at the pointer; the range shrinks and the picture changes.
  const range = () => text(".range");
  const all = await range();
  await mouse("mouseMoved", canvas.x, canvas.y);
  for (let i = 0; i < 6; ++i) await send("Input.dispatchMouseEvent", { type: "mouseWheel", x: canvas.x, y: canvas.top + 150, deltaX: 0, deltaY: -60, modifiers: 2 });
  await settle();
  const near = await range();
  check("the wheel zooms", near !== all, [all, near]);
  check("the picture changes", (await picture()).sum !== before.sum);
  await mouse("mousePressed", canvas.x, canvas.top + 150);
  for (let i = 1; i <= 5; ++i) await mouse("mouseMoved", canvas.x - 40 * i, canvas.top + 150, { button: "left", buttons: 1 });
  await mouse("mouseReleased", canvas.x - 200, canvas.top + 150);
  await settle();
  check("dragging moves", (await range()) !== near && (await range()).split(" from ")[0] === near.split(" from ")[0], [near, await range()]);
  if (!large) await shot("zoomed", false);

  // The keyboard alone.
  await ask(`document.querySelector(".timeline canvas").focus()`);
  await key("0", "Digit0");
  check("0 shows all", (await range()) === all, await range());
  await key("+", "Equal");
  check("plus zooms", (await range()) !== all);
  const here = await range();
  await key("ArrowRight");
  check("an arrow moves", (await range()) !== here);
  await key("ArrowDown");
  const lane = await text(".timeline .selected");
  await key("ArrowDown");
  check("down goes to the next worker", (await text(".timeline .selected")) !== lane, lane);
  await key("0", "Digit0");

  // Search by name; enter goes to the first match.
  const search = await middle(".search input");
  await click(search.x, search.y);
  await send("Input.insertText", { text: "bound" });
  await settle();
  const matches = await text(".controls output");
  check("search counts the slices", /slices/.test(matches) && !/nothing/.test(matches), matches);
  await key("Enter");
  check("enter selects the first match", /boundary/.test(await text(".timeline .selected")), await text(".timeline .selected"));
  if (!large) await shot("search", false);
  await ask(`(() => { const i = document.querySelector(".search input"); i.value = ""; i.dispatchEvent(new Event("input", {bubbles: true})); })()`);
  await settle();
  check("no search, no count", (await text(".controls output")) === "");
  await ask(`document.querySelector(".timeline canvas").focus()`);
  await key("0", "Digit0");

  // The task map: another step, another picture; a click leads to the timeline.
  const maps = await ask(`document.querySelectorAll(".map canvas").length`);
  check("a task map for each run", maps === await ask(`document.querySelectorAll(".timeline canvas").length`), maps);
  const map = await middle(".map canvas");
  await click(map.x, map.y);
  check("a click on the map zooms the timeline", (await range()) !== all, await range());
  await ask(`(() => { const i = document.querySelector(".step input"); i.value = 3; i.dispatchEvent(new Event("input", {bubbles: true})); })()`);
  await settle();
  await ask(`document.querySelector(".map").scrollIntoView({block: "center", behavior: "instant"})`);
  check("the map tells what stayed where it was", /of the step before/.test(await text(".map .note")), await text(".map .note"));

  if (await ask(`document.querySelector("#map-title ~ .controls select") !== null`)) {
    await ask(`(() => { const s = document.querySelector("#map-title ~ .controls select"); s.selectedIndex = 1; s.dispatchEvent(new Event("change", {bubbles: true})); })()`);
    await settle();
    check("another map is shown", /pieces on/.test(await text(".map .note")), await text(".map .note"));
    await shot("tree", false);
  }

  if (!large) {
    await ask(`document.querySelector(".timeline canvas").focus()`);
    await key("0", "Digit0");
    await ask(`[...document.querySelectorAll(".top button")].find((b) => b.textContent === "dark").click()`);
    await settle();
    check("dark is dark", await ask(`getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1"`));
    await shot("dark");
    await ask(`[...document.querySelectorAll(".top button")].find((b) => b.textContent === "auto").click()`);
    await send("Emulation.setDeviceMetricsOverride", { width: 480, height: 900, deviceScaleFactor: 1, mobile: false });
    await shot("narrow");
    check("nothing is wider than a narrow page", await ask(`document.documentElement.scrollWidth <= 480`), await ask(`document.documentElement.scrollWidth`));
    await send("Emulation.setDeviceMetricsOverride", { width: 1100, height: 900, deviceScaleFactor: 1, mobile: false });
    await settle();
    const { data } = await send("Page.printToPDF", { printBackground: false, landscape: true });
    await writeFile(join(out, "print.pdf"), Buffer.from(data, "base64"));
    await send("Emulation.setEmulatedMedia", { media: "print", features: [{ name: "prefers-color-scheme", value: "dark" }] });
    await shot("print");
  }
  check("no errors in the console", errors.length === 0, errors);
} catch (error) {
  ++failures;
  console.log(`FAILED: ${error.stack}`);
} finally {
  child.kill();
  await new Promise((r) => (child.exitCode === null && child.signalCode === null ? child.on("exit", r) : r()));
  await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}
console.log(failures === 0 ? "passed" : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
