/** Runs of haggle, the server of the viewer and a browser for the tests. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

import type { Scene } from "../../src/scene";

export const root = resolve(process.cwd(), "../../..");
export const haggle = process.env["HAGGLE"] ?? join(root, "target/debug/haggle");
const chromiumPath = process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((it) => existsSync(it));

export const work = mkdtempSync(join(tmpdir(), "haggle-view-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

/** Two providers with users of their own, and jobs from outside that a metascheduler places. */
export const SCENARIO = `
[scenario]
name = "pair"
description = "Two providers and external jobs"

[[workload]]
name = "north-jobs"
model = "lublin-feitelson"
lublin = { jobs = 150, processors = 32, load = 0.6 }

[[workload]]
name = "external-jobs"
model = "lublin-feitelson"
lublin = { jobs = 100, processors = 32, load = 0.5 }

[[user]]
name = "north-users"
workload = "north-jobs"
submits-to = "north"

[[user]]
name = "external-users"
workload = "external-jobs"
submits-to = "grid"

[[provider]]
name = "north"
processors = 32
policy = "conservative"

[[provider]]
name = "east"
processors = 32
policy = "easy"

[[metascheduler]]
name = "grid"
placement = "minimum-completion-time"

[results]
messages = "all"
`;

export function scenario(name = "pair.toml", text = SCENARIO): string {
    const path = join(work, name);
    writeFileSync(path, text);
    return path;
}

/** Runs a scenario and gives the folder of its results. */
export function run(path: string, name: string, ...more: string[]): string {
    const out = join(work, name);
    if (!existsSync(out)) execFileSync(haggle, ["run", path, "-o", out, "--quiet", ...more], { stdio: ["ignore", "ignore", "inherit"], cwd: root });
    return out;
}

export function copied(from: string, name: string): string {
    const to = join(work, name);
    cpSync(from, to, { recursive: true });
    return to;
}

export interface Served {
    readonly address: string;
    readonly process: ChildProcess;
    readonly get: <T>(path: string) => Promise<T>;
    readonly stop: () => Promise<void>;
}

/** Starts the viewer, and waits for the address that it prints. */
export async function serve(...what: string[]): Promise<Served> {
    const child = spawn(haggle, ["view", ...what, "--no-open"], { stdio: ["ignore", "pipe", "pipe"], cwd: root });
    const address = await new Promise<string>((found, failed) => {
        let text = "";
        const read = (bytes: Buffer) => {
            text += bytes.toString();
            const match = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(text);
            if (match) found(match[0]);
        };
        child.stdout.on("data", read);
        child.stderr.on("data", read);
        child.on("exit", (code) => failed(new Error(`haggle view ended with ${code}: ${text}`)));
    });
    const get = async <T>(path: string) => (await (await fetch(`${address}api/${path}`)).json()) as T;
    const stop = () =>
        new Promise<void>((done) => {
            if (child.exitCode !== null) return done();
            child.on("exit", () => done());
            child.kill("SIGINT");
        });
    return { address, process: child, get, stop };
}

let shared: Browser | null = null;
/** A graphics card that is emulated: slow, and the same everywhere. */
let card = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

/** The graphics card of this machine, or none with HAGGLE_NO_CARD. */
export function useCard(): void {
    card = process.env["HAGGLE_NO_CARD"] === undefined ? [] : ["--disable-gpu", "--enable-unsafe-swiftshader"];
}

export async function browser(): Promise<Browser> {
    if (!chromiumPath) throw new Error("Chromium is missing: install Debian's package chromium, or set CHROMIUM to its path");
    shared ??= await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-background-networking", ...card] });
    return shared;
}

export async function closeBrowser(): Promise<void> {
    await shared?.close();
    shared = null;
}

export interface Watched {
    readonly page: Page;
    /** Messages of the console, errors, violations of the policy, and requests to other hosts. */
    readonly faults: string[];
}

export async function open(address: string, fragment = "", options: BrowserContextOptions = {}): Promise<Watched> {
    const context = await (await browser()).newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    const { host } = new URL(address);
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
        faults.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") faults.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    page.on("request", (request) => {
        const to = new URL(request.url());
        if (to.protocol !== "blob:" && to.host !== host) faults.push(`request to ${request.url()}`);
    });
    await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    await page.goto(address + (fragment === "" ? "" : `#${fragment}`));
    await rested(page);
    return { page, faults };
}

/** Waits until each place is drawn from a tile of its own level. */
export async function rested(page: Page): Promise<void> {
    await page.waitForFunction(() => window.haggle?.waiting() === false && window.haggle.scene()?.complete === true, null, { polling: 100 });
}

export async function scene(page: Page): Promise<Scene> {
    await rested(page);
    const found = await page.evaluate(() => window.haggle.scene());
    if (!found) throw new Error("nothing is drawn");
    return found;
}

/** Presses a key while no field has the focus. */
export async function press(page: Page, key: string, times = 1): Promise<void> {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (let at = 0; at < times; at += 1) await page.keyboard.press(key);
}

/** A place of the charts on the page. */
export async function placeOf(page: Page, x: number, y: number): Promise<{ x: number; y: number }> {
    const box = await page.getByTestId("charts").boundingBox();
    if (!box) throw new Error("the charts are not shown");
    return { x: box.x + x, y: box.y + y };
}

/** Folder of the pictures of the manual; null unless they are to be written. */
export function pictures(): string | null {
    if (process.env["HAGGLE_PICTURES"] === undefined) return null;
    const folder = join(root, "docs/viewer");
    mkdirSync(folder, { recursive: true });
    return folder;
}
