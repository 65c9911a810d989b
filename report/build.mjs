// Bundles the page into dist/page.html, and into dist/page.inc for the C++ compiler: the same bytes as raw string literals.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

const common = { bundle: true, write: false, minify: true, legalComments: "none", charset: "ascii", logLevel: "warning" };
const script = await build({
  ...common, metafile: true, entryPoints: [join(here, "src/main.tsx")], format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
});
const style = await build({ ...common, entryPoints: [join(here, "src/style.css")] });

// The licences of what is in the bundle, as they ask for.
const packages = Object.keys(script.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
const licences = await Promise.all([...new Set(packages)].filter((name) => name !== undefined).sort().map(async (name) => {
  const about = JSON.parse(await readFile(join(here, "node_modules", name, "package.json"), "utf8"));
  return `${name} ${about.version} (${about.license})`;
}));

const text = (result) => result.outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
let page = await readFile(join(here, "page.html"), "utf8");
page = page.replace("/*style*/", () => text(style)).replace("/*script*/", () => `/* With ${licences.join(", ")} */\n${text(script)}`);
if (page.includes(')heddle"')) throw new Error("the page holds the end of a raw string");

// No literal above what every compiler takes; the cuts are anywhere, for the literals are put together again.
const parts = [];
for (let at = 0; at < page.length; at += 12000) parts.push(`R"heddle(${page.slice(at, at + 12000)})heddle"`);

await mkdir(out, { recursive: true });
await writeFile(join(out, "page.inc"), `${parts.join(",\n")}\n`);
console.log(`${join(out, "page.inc")}: ${page.length} bytes`);
