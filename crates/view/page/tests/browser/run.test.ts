import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";

import type { Differences, Job, Jobs, Overview } from "../../src/api";
import { closeBrowser, open, placeOf, press, rested, root, run, scenario, scene, serve, type Served, type Watched } from "./support";

let served: Served;
let watched: Watched;
let page: Page;
let overview: Overview;

before(async () => {
    const path = scenario();
    served = await serve(run(path, "conservative"), run(path, "fcfs", "--set", "provider.*.policy=fcfs"));
    watched = await open(`${served.address}?webgl`);
    page = watched.page;
    overview = await served.get<Overview>("views/0");
});

after(async () => {
    await closeBrowser();
    await served?.stop();
});

/** A row of the table of jobs by the names of its columns. */
async function jobs(ask: string): Promise<Record<string, unknown>[]> {
    const found = await served.get<Jobs>(`views/0/jobs?${ask}`);
    assert.equal(found.error, null);
    return found.rows.map((row) => Object.fromEntries(found.columns.map((column, at) => [column.name, row[at]])));
}

const micros = (seconds: unknown) => Math.round(Number(seconds) * 1e6);

test("the page opens with all charts, the table and the metrics", async () => {
    const drawn = await scene(page);
    assert.equal(drawn.painter, "webgl2");
    assert.deepEqual(drawn.charts.map((it) => it.name), ["north", "east"]);
    assert.ok(drawn.bars.length > 100, `${drawn.bars.length} bars`);
    assert.equal(await page.getByTestId("count").textContent(), "250 of 250");
    assert.match((await page.getByTestId("summary").textContent()) ?? "", /mean waiting time/i);
    assert.equal(await page.title(), `${overview.name} – haggle`);
});

test("the bars are those of the tables, at the pixels of their times", async () => {
    const longest = (await jobs("sort=-execution_time&first=0&count=1"))[0];
    assert.ok(longest);
    await page.evaluate(([from, span]) => (location.hash = `t=${from}&span=${span}`), [micros(longest["starting_time"]) - 3_600e6, micros(longest["execution_time"]) / 4]);
    await page.waitForTimeout(300);
    const drawn = await scene(page);
    const { window, plot } = drawn;
    const end = window.origin + window.span;
    const all = (await jobs("first=0&count=250")).filter((it) => it["starting_time"] !== null);
    const inWindow = (job: Record<string, unknown>) => micros(job["starting_time"]) < end && micros(job["finish_time"]) > window.origin;
    const dense = drawn.charts.some((it) => it.density);
    for (const chart of ["north", "east"]) {
        const seen = new Set(drawn.bars.filter((it) => it.chart === chart).map((it) => it.job));
        const there = new Set(all.filter((job) => inWindow(job) && job["provider"] === chart).map((job) => Number(job["job"])));
        for (const job of seen) assert.ok(there.has(job), `job ${job} is drawn at ${chart}`);
        if (!dense) assert.equal(seen.size, there.size, `${chart}: ${[...there].filter((it) => !seen.has(it))}`);
    }
    const pixel = window.span / plot.width;
    for (const bar of drawn.bars) {
        const job = all.find((it) => Number(it["job"]) === bar.job);
        assert.ok(job, `job ${bar.job}`);
        const x = plot.x + Math.max(0, (micros(job["starting_time"]) - window.origin - window.offset) / pixel);
        assert.ok(Math.abs(bar.x - x) <= 1.01, `job ${bar.job}: ${bar.x} instead of ${x}`);
        const right = plot.x + Math.min(plot.width, (micros(job["finish_time"]) - window.origin - window.offset) / pixel);
        assert.ok(Math.abs(bar.x + bar.width - right) <= 1.6, `job ${bar.job}: until ${bar.x + bar.width} instead of ${right}`);
    }
    const details = await served.get<Job>(`views/0/jobs/${longest["job"]}`);
    const bar = details.bars[0];
    const drawnBar = drawn.bars.find((it) => it.job === longest["job"]);
    assert.deepEqual([drawnBar?.row, drawnBar?.rows], [bar?.row, bar?.rows]);
    await press(page, "f");
});

test("keys and the wheel zoom about a point, to a microsecond and back to all", async () => {
    await rested(page);
    const whole = (await scene(page)).window;
    const at = await placeOf(page, 700, 100);
    await page.mouse.move(at.x, at.y);
    const under = async () => {
        const { window, plot } = await scene(page);
        return window.origin + window.offset + ((700 - plot.x) / plot.width) * window.span;
    };
    const time = await under();
    await page.mouse.wheel(0, -600);
    await page.waitForTimeout(200);
    const closer = (await scene(page)).window;
    assert.ok(closer.span < whole.span / 2);
    assert.ok(Math.abs((await under()) - time) < closer.span / 500, "the time below the pointer stays");
    // The keys go on from a short window: each press costs a picture.
    await page.evaluate((from) => (location.hash = `t=${from}&span=100`), Math.round(time));
    await page.waitForTimeout(300);
    await press(page, "w", 20);
    await page.waitForTimeout(300);
    const window = (await scene(page)).window;
    assert.equal(window.span, 1, "one microsecond fills the window");
    assert.match(await page.evaluate(() => location.hash), /span=1(&|$)/);
    await press(page, "d");
    assert.notDeepEqual((await scene(page)).window, window);
    await press(page, "f");
    await page.waitForTimeout(200);
    assert.deepEqual((await scene(page)).window, whole);
});

test("a drag moves, and Shift and a drag select an interval with its sums", async () => {
    const before = (await scene(page)).window;
    const [from, to] = [await placeOf(page, 500, 100), await placeOf(page, 700, 100)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    assert.ok((await scene(page)).window.origin < before.origin);
    await press(page, "f");
    await page.keyboard.down("Shift");
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await press(page, "2");
    const [, start, end] = /interval=(\d+)%7E(\d+)|interval=(\d+)~(\d+)/.exec(await settledHash(page)) ?? [];
    const sum = await served.get<{ jobs: number }>(`views/0/charts/0/sum?from=${start}&to=${end}&first_row=0&rows=32`);
    await page.waitForFunction((count) => document.querySelector('[data-testid="interval"]')?.textContent?.includes(`north${count}`), sum.jobs);
    await press(page, "Escape");
    // The margin of the window is no time of the run.
    await page.getByTestId("interval").getByText(/^0 to |^\d[^ ]* to /).waitFor();
    await press(page, "w", 4);
    const whole = await served.get<{ from: number; until: number }>("views/0");
    for (const [key, edge] of [["Home", whole.from], ["End", whole.until]] as const) {
        await press(page, key);
        const { origin, span } = (await scene(page)).window;
        const share = (edge - origin) / span;
        assert.ok(Math.abs(share - (key === "Home" ? 0.02 : 0.98)) < 1e-6, `${key}: ${share}`);
    }
    await press(page, "f");
});

async function settledHash(of: Page): Promise<string> {
    await of.waitForTimeout(400);
    return of.evaluate(() => location.hash);
}

test("one selection for all panes: a bar, the table, the story and the messages", async () => {
    const bars = (await scene(page)).bars.filter((it) => it.width > 12 && it.height > 6);
    const bar = bars[Math.floor(bars.length / 2)];
    assert.ok(bar);
    const at = await placeOf(page, bar.x + bar.width / 2, bar.y + bar.height / 2);
    await page.mouse.click(at.x, at.y);
    const details = await served.get<Job>(`views/0/jobs/${bar.job}`);
    await page.getByTestId("job").getByText(details.story?.title ?? "").waitFor();
    const lines = await page.locator(".story .line").allTextContents();
    const cells = await page.locator(".story table :is(td, th)").allTextContents();
    const told = (details.story?.lines ?? []).map((it) => it.text).filter((it) => it !== "" && !lines.includes(it));
    assert.ok(told.length >= 2, "the parts of its time are a table");
    assert.deepEqual(told.flatMap((it) => it.trim().split(/ {2,}/)), cells.filter((it) => it !== ""));
    assert.match(await settledHash(page), new RegExp(`job=${bar.job}(&|$)`));
    await page.locator("section.sequence").waitFor();
    assert.match((await page.locator(".chosen").first().textContent()) ?? "", new RegExp(`^${bar.job}`));
    await press(page, "]");
    if (details.next_of_user !== null) await page.waitForFunction((job) => location.hash.includes(`job=${job}`), details.next_of_user);
    await press(page, "Escape");
});

test("the search jumps to a job", async () => {
    await press(page, "/");
    await page.keyboard.type("120");
    await page.locator("#matches [role=option]").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /job=\d+/.test(location.hash));
    const job = Number(/job=(\d+)/.exec(await settledHash(page))?.[1]);
    assert.ok((await scene(page)).bars.some((it) => it.job === job), `job ${job} is in sight`);
    await press(page, "Escape");
    await press(page, "f");
});

test("the table is filtered and sorted by the server, and a mistake is explained", async () => {
    await press(page, ":");
    await page.keyboard.type("waiting_time > 0");
    const right = await served.get<Jobs>(`views/0/jobs?filter=${encodeURIComponent("waiting_time > 0")}&sort=-waiting_time&first=0&count=1`);
    await page.waitForFunction((count) => document.querySelector('[data-testid="count"]')?.textContent?.startsWith(`${count} of`), right.matching);
    await page.getByRole("button", { name: /^waiting_time/ }).click();
    await page.getByRole("button", { name: /^waiting_time/ }).click();
    const job = right.rows[0]?.[right.columns.findIndex((it) => it.name === "job")];
    await page.waitForFunction((first) => document.querySelector('[data-testid="jobs"] tr[aria-rowindex="2"] td')?.textContent === String(first), job);
    await page.locator("#filter").fill("waiting_time >");
    await page.waitForFunction(() => (document.querySelector("#filter-error")?.textContent ?? "") !== "");
    assert.equal(await page.locator("#filter").getAttribute("aria-invalid"), "true");
    await page.locator("#filter").fill("provider == east");
    await page.getByText("Write names in quotes").waitFor();
    assert.equal(await page.getByTestId("count").textContent(), "– of 250");
    assert.equal(await page.locator('[data-testid="jobs"] tbody tr:not(.room)').count(), 0, "no rows of another filter");
    await page.locator("#filter").fill("");
    await page.waitForFunction(() => document.querySelector('[data-testid="count"]')?.textContent === "250 of 250");
});

/** The addresses that the page asks for. */
function asked(): string[] {
    const found: string[] = [];
    page.on("request", (request) => void found.push(request.url()));
    return found;
}

test("two runs are compared on one axis", async () => {
    const requests = asked();
    await press(page, "c");
    await page.getByTestId("compare").getByText("Largest differences").waitFor();
    await page.waitForTimeout(300);
    const drawn = await scene(page);
    assert.deepEqual(drawn.charts.map((it) => [it.view, it.name]), [
        [0, "north"],
        [1, "north"],
        [0, "east"],
        [1, "east"],
    ]);
    const right = await served.get<Differences>("views/0/differences?with=1");
    const text = (await page.getByTestId("compare").textContent()) ?? "";
    assert.ok(text.includes(`same time${right.same}`) && text.includes(`later here${right.later}`), text);
    const words = new Set(drawn.bars.flatMap((it) => it.words.split(", ").slice(1)));
    assert.ok(words.has("earlier") || words.has("later") || words.has("at another provider"), [...words].join());
    // Jobs of the second run have the numbers of the first one.
    const second = requests.filter((it) => it.includes("/views/1/charts/"));
    assert.ok(second.length > 0 && second.every((it) => it.includes("numbers=0")), second.join("\n"));
    await press(page, "c");
    await page.waitForFunction(() => window.haggle.scene()?.charts.length === 2);
});

test("an address shows the same view in another browser", async () => {
    await press(page, "w", 4);
    await press(page, "a", 1);
    await press(page, "e");
    await page.locator("#filter").fill("waiting_time > 0");
    await page.waitForTimeout(500);
    const top = () => page.getByTestId("jobs").evaluate((it) => it.scrollTop);
    await page.getByTestId("jobs").evaluate((it) => (it.scrollTop = 24 * 20));
    assert.equal(await top(), 480, "the table is long enough");
    await page.waitForTimeout(500);
    const mine = await scene(page);
    const fragment = (await settledHash(page)).slice(1);
    const other = await open(served.address, fragment);
    const theirs = await scene(other.page);
    assert.deepEqual(theirs.window, mine.window);
    assert.deepEqual(theirs.charts.map((it) => it.height > 0), mine.charts.map((it) => it.height > 0));
    assert.equal(await other.page.locator("#filter").inputValue(), "waiting_time > 0");
    await other.page.waitForFunction(() => document.querySelector('[data-testid="jobs"]')?.scrollTop === 480);
    assert.deepEqual(other.faults, []);
    await other.page.context().close();
    await page.locator("#filter").fill("");
    await press(page, "e");
    await press(page, "f");
});

test("pictures are saved as PNG, SVG and PDF", async () => {
    for (const [format, start] of [
        ["png", "\u0089PNG"],
        ["svg", "<"],
        ["pdf", "%PDF"],
    ] as const) {
        await press(page, "x");
        await page.getByRole("dialog").getByLabel("Format").selectOption(format);
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("dialog").getByRole("button", { name: "Save" }).click()]);
        assert.equal(download.suggestedFilename(), `gantt.${format}`);
        const bytes = readFileSync(await download.path());
        assert.ok(bytes.toString("latin1").startsWith(start), bytes.subarray(0, 8).toString());
    }
});

test("the help lists each key once, and the manual lists the same", async () => {
    await press(page, "?");
    const rows = page.getByTestId("keys").locator("dl > div");
    const listed = await rows.evaluateAll((all) => all.map((row) => ({ keys: [...row.querySelectorAll("kbd")].map((key) => key.textContent ?? ""), text: row.querySelector("dd")?.textContent ?? "" })));
    const keys = listed.flatMap((it) => it.keys);
    assert.ok(keys.length > 50);
    assert.equal(new Set(keys).size, keys.length, "no key has two uses");
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    const manual = readFileSync(join(root, "docs/viewer.md"), "utf8");
    const wanted = listed.map((it) => `| ${it.keys.map((key) => `\`${key}\``).join(" ")} | ${it.text.toLowerCase()} |`);
    const missing = wanted.filter((row) => !manual.includes(row));
    assert.deepEqual(missing, [], `rows that docs/viewer.md lacks:\n${missing.join("\n")}`);
});

test("the legend names the workloads and looks of the run, and the differences of a comparison", async () => {
    await press(page, "h");
    const legend = page.getByTestId("legend");
    await legend.getByText("north-jobs").waitFor();
    const entries = (await legend.locator("li").allTextContents()).map((it) => it.trim());
    assert.ok(entries.includes("external-jobs") && entries.some((it) => it.startsWith("external job")), entries.join(" · "));
    assert.ok(!entries.some((it) => /failure|maintenance|reservation/.test(it)), "only looks that occur");
    await page.keyboard.press("Escape");
    await press(page, "c");
    await page.getByTestId("compare").getByText("Largest differences").waitFor();
    await press(page, "h");
    await legend.getByText("at another provider").waitFor();
    assert.equal(await legend.getByText("north-jobs").count(), 0);
    await page.keyboard.press("Escape");
    await press(page, "c");
    await page.waitForFunction(() => window.haggle.scene()?.charts.length === 2);
});

/** Places of the strip that have the colour of load. */
const loadInStrip = () =>
    page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>(".strip canvas");
        if (!canvas) return 0;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy?.drawImage(canvas, 0, 0);
        const data = copy?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
        let found = 0;
        for (let at = 0; at < data.length; at += 4) found += Number((data[at + 2] ?? 0) - (data[at] ?? 0) > 60);
        return found;
    });

test("a value that an actor does not know is no empty cell", async () => {
    const known = await served.get<Jobs>("views/0/jobs?as=east&count=1000");
    const [job, outcome] = ["job", "outcome"].map((name) => known.columns.findIndex((it) => it.name === name));
    const described = known.rows.find((row) => row[outcome as number] === null)?.[job as number];
    assert.equal(typeof described, "number", "east knows the description of a job alone");
    const other = await open(served.address, `as=east&job=${described}`);
    const value = (name: string) => other.page.getByTestId("job").locator("table.values tr").filter({ has: other.page.getByRole("rowheader", { name, exact: true }) }).locator("td");
    await value("outcome").getByText("not known", { exact: true }).waitFor();
    assert.equal(await value("job").textContent(), String(described));
    // A job without a deadline has none, and the actor knows this.
    assert.equal(await value("deadline").textContent(), "–");
    assert.deepEqual(other.faults, []);
    await other.page.context().close();
});

test("the time of each utilisation is named", async () => {
    const other = await open(served.address, "tab=summary");
    await other.page.getByTestId("summary").getByRole("columnheader", { name: "Utilisation in the whole run" }).waitFor({ state: "attached" });
    await other.page.getByText(/% used in the whole run/).first().waitFor();
    await other.page.getByText("That in the window leaves out the warm-up").waitFor();
    await other.page.context().close();
});

test("an actor's view hides the jobs of others", async () => {
    await press(page, "f");
    await rested(page);
    await page.waitForTimeout(300);
    const strip = await loadInStrip();
    assert.ok(strip > 3000, `${strip}`);
    const all = (await scene(page)).bars;
    // The table of bars is asked for when the window has rested.
    await page.waitForTimeout(600);
    const requests = asked();
    await page.getByLabel("View as", { exact: true }).selectOption("east");
    await page.getByTestId("hidden").getByText("Seen by east").waitFor();
    await page.getByText("hidden from east", { exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Save a picture/ }).count(), 0);
    await press(page, "x");
    await page.getByText("Pictures are hidden from east").waitFor();
    await page.waitForTimeout(300);
    const views = requests.filter((it) => it.includes("/api/views/"));
    assert.ok(views.length > 2 && views.every((it) => it.includes("as=east")), views.join("\n"));
    const drawn = await scene(page);
    assert.equal(drawn.bars.filter((it) => it.chart === "north").length, 0);
    assert.ok(drawn.bars.length > 0 && drawn.bars.length < all.length);
    await page.getByLabel("View as", { exact: true }).selectOption("");
    await page.getByTestId("hidden").waitFor({ state: "detached" });
    assert.equal(await page.getByRole("alert").count(), 0, "the notice is out of date");
    await rested(page);
    await page.waitForTimeout(300);
    const again = await loadInStrip();
    assert.ok(again > 0.9 * strip, `${again} of ${strip}`);
});

test("each pane has a table", async () => {
    await press(page, "r");
    const rows = page.getByRole("region", { name: "Table of the bars in sight" }).locator("tbody tr");
    await rows.first().waitFor();
    const table = page.getByRole("region", { name: "Table of the bars in sight" });
    await table.getByLabel("Chart").selectOption({ label: "north" });
    const drawn = [...new Set((await scene(page)).bars.filter((it) => it.chart === "north").map((it) => String(it.job)))];
    const count = async () => /^([\d,]+) bars? and/.exec((await table.getByTestId("bars-count").textContent()) ?? "")?.[1]?.replaceAll(",", "");
    // The table is made anew when the window has rested, a while after the picture.
    const missing = async () => {
        const jobs = new Set<string>();
        for (;;) {
            (await rows.locator("td:nth-child(1)").allTextContents()).forEach((it) => jobs.add(it));
            const next = table.getByRole("button", { name: /^Later rows/ });
            if (await next.isDisabled()) break;
            await next.click();
            await page.waitForTimeout(900);
        }
        return drawn.filter((job) => !jobs.has(job));
    };
    for (let tries = 0; tries < 20 && (await count()) === undefined; tries += 1) await page.waitForTimeout(200);
    assert.ok(drawn.length > 0 && Number(await count()) >= drawn.length);
    assert.deepEqual(await missing(), []);
    assert.equal(await page.locator(".as-table").count(), 3);
    const series = page.getByRole("region", { name: "Table of queue length" });
    assert.match((await series.locator("caption").textContent()) ?? "", /^Queue length: mean over steps of \d/);
    assert.ok(((await series.boundingBox())?.height ?? 0) > 150, "the table has room");
    assert.ok((await series.locator("tbody td:first-child").allTextContents()).every((it) => !it.includes(".")), "whole seconds");
    await press(page, "r");
});

test("a browser without WebGL has the same scene", async () => {
    await press(page, "f");
    const gl = await scene(page);
    const plain = await open(`${served.address}?canvas`);
    const flat = await scene(plain.page);
    assert.equal(flat.painter, "canvas");
    assert.deepEqual(flat.bars.map((it) => it.job), gl.bars.map((it) => it.job));
    assert.deepEqual(plain.faults, []);
    await plain.page.context().close();
});

test("nothing went wrong", () => assert.deepEqual(watched.faults, []));
