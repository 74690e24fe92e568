// Bundles the tests of a folder and runs them with the test runner of node: no other runner is needed.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder = "tests/unit", ...rest] = process.argv.slice(2);
const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.ts") && (rest.length === 0 || rest.some((word) => name.includes(word))));
const out = join(root, "out", folder);
rmSync(out, { recursive: true, force: true });
await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
        ssr: true,
        outDir: out,
        minify: false,
        target: "node20",
        rollupOptions: { input: names.map((name) => join(root, folder, name)), external: ["playwright-core", "axe-core"] },
    },
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, ".js")));
const { status } = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...files], { stdio: "inherit", cwd: root });
process.exit(status ?? 1);
