import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";

import type { Glimpse, Jobs, SimulationState } from "../../src/api";
import { closeBrowser, open, press, rested, scenario, scene, serve, type Served, type Watched } from "./support";

let served: Served;
let watched: Watched;
let page: Page;

before(async () => {
    served = await serve(scenario());
    watched = await open(served.address);
    page = watched.page;
});

after(async () => {
    await closeBrowser();
    await served?.stop();
});

const state = (view = 0) => served.get<SimulationState>(`views/${view}/state`);

/** Waits until the page shows this number of messages and the simulation rests. */
async function shows(messages: number, of = page): Promise<void> {
    await of.waitForFunction((count) => document.querySelector('[data-testid="now"]')?.textContent?.includes(` · ${count} message`), messages.toLocaleString("en"));
}

async function resting(view = 0): Promise<SimulationState> {
    for (;;) {
        const now = await state(view);
        if (now.state !== "running") return now;
        await new Promise((resolve) => setTimeout(resolve, 30));
    }
}

test("a message, an instant and a time are stepped", async () => {
    const start = await state();
    assert.equal(start.state, "paused");
    const span = await page.evaluate(() => window.haggle.scene()?.window.span);
    assert.ok(span !== undefined && span >= 3_600e6, `${span}`);
    await press(page, "Space");
    await shows(start.messages + 1);
    await press(page, "i");
    await page.waitForFunction((count) => !document.querySelector('[data-testid="now"]')?.textContent?.includes(` · ${count} message`), (start.messages + 1).toLocaleString("en"));
    const before = await resting();
    await page.getByLabel("Length of a step").fill("6h");
    await page.getByLabel("Length of a step").press("Enter");
    await page.waitForFunction(() => document.querySelector('[data-testid="now"]')?.textContent?.includes("paused"));
    const after = await until((now) => now.now >= before.now + 5 * 3_600e6);
    assert.ok(after.messages > before.messages);
    await shows(after.messages);
});

async function until(holds: (now: SimulationState) => boolean, view = 0): Promise<SimulationState> {
    for (let at = 0; at < 400; at += 1) {
        const now = await state(view);
        if (now.state !== "running" && holds(now)) return now;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${holds.toString()}: the simulation is at ${JSON.stringify(await state(view))}`);
}

test("a breakpoint stops the run when a job starts", async () => {
    const before = await state();
    await press(page, "b");
    const form = page.getByRole("dialog");
    await form.getByLabel("Stop when").selectOption("starts");
    await form.getByRole("textbox", { name: "Job", exact: true }).fill("60");
    await form.getByRole("button", { name: "Run", exact: true }).click();
    const now = await until((it) => it.messages > before.messages);
    assert.match(now.stopped_by ?? "", /60/);
    await shows(now.messages);
    // At its own instant, the bar has no length yet.
    await press(page, "i");
    const instant = await until((it) => it.messages > now.messages);
    await shows(instant.messages);
    await press(page, "i");
    await until((it) => it.now > now.now);
    await page.waitForTimeout(300);
    await press(page, "f");
    await page.waitForTimeout(300);
    const drawn = await scene(page);
    assert.ok(drawn.bars.some((it) => it.job === 60), "the job has a bar");
    assert.ok(drawn.bars.some((it) => it.words.includes("running")), "bars of running jobs are open");
});

test("a message of a kind stops the run, and Enter runs to the next one", async () => {
    await press(page, "b");
    const form = page.getByRole("dialog");
    await form.getByLabel("Stop when").selectOption("message");
    await form.getByLabel(/^About job/).fill("");
    await form.getByLabel(/^Kind \(any/).fill("submit");
    const before = await state();
    await form.getByRole("button", { name: "Run", exact: true }).click();
    const first = await until((it) => it.messages > before.messages);
    await shows(first.messages);
    await press(page, "Enter");
    const second = await until((it) => it.messages > first.messages);
    await shows(second.messages);
    assert.ok(second.now >= first.now);
});

test("a kind that does not exist is refused, and the form offers the others", async () => {
    const before = await resting();
    await press(page, "b");
    const form = page.getByRole("dialog");
    await form.getByLabel("Stop when").selectOption("message");
    const offered = await form.locator("#kinds option").evaluateAll((all) => all.map((it) => (it as HTMLOptionElement).value));
    assert.ok(offered.length > 100 && offered.includes("submit") && offered.includes("estimate_request"), `${offered.length}`);
    const list = form.getByLabel("Kinds with these letters");
    assert.ok(await list.evaluate((it) => it.clientHeight < 200 && it.scrollHeight > 10 * it.clientHeight), "the list is scrolled");
    await list.selectOption("estimate_request");
    assert.equal(await form.getByLabel(/^Kind \(any/).inputValue(), "estimate_request");
    await form.getByLabel(/^Kind \(any/).fill("submitt");
    await form.getByRole("button", { name: "Run", exact: true }).click();
    assert.match((await form.getByRole("alert").textContent()) ?? "", /no message is of the kind `submitt`.*did you mean submit\?/);
    await form.getByRole("button", { name: "Close" }).click();
    assert.equal((await resting()).messages, before.messages);
});

test("the last message is shown with its contents", async () => {
    await press(page, "b");
    const form = page.getByRole("dialog");
    await form.getByLabel("Stop when").selectOption("message");
    await form.getByLabel(/^About job/).fill("");
    await form.getByLabel(/^Kind \(any/).fill("estimate");
    const before = await resting();
    await form.getByRole("button", { name: "Run", exact: true }).click();
    const after = await until((it) => it.messages > before.messages);
    await shows(after.messages);
    const last = page.getByTestId("last");
    await last.getByText("estimate", { exact: true }).waitFor();
    const text = (await last.textContent()) ?? "";
    assert.match(text, /to grid · estimate job \d+ · start .+, completion .+/);
    assert.doesNotMatch(text, /\d{7}/, "times are in words");
    assert.match((await last.locator("span[title]").first().getAttribute("title")) ?? "", /^[\d,]+ µs$/);
    // Another actor does not see it, but its own last one.
    await page.getByLabel("View as", { exact: true }).selectOption("north-users");
    await last.getByText(/ · north-users to | to north-users · /).waitFor();
    assert.doesNotMatch((await last.textContent()) ?? "", /to grid/);
    await page.getByLabel("View as", { exact: true }).selectOption("");
});

test("a job is named as in the table, and messages are counted", async () => {
    const before = await resting();
    const jobs = await served.get<Jobs>("views/0/jobs?count=1000&sort=-job");
    const place = (name: string) => jobs.columns.findIndex((it) => it.name === name);
    const [number, workload, id] = [place("job"), place("workload_name"), place("job_id")];
    const open = jobs.rows.find((it) => it[place("outcome")] === "unfinished");
    assert.ok(open, "a job is not over");
    const run = async (kind: string, label: string, text: string) => {
        await press(page, "b");
        const form = page.getByRole("dialog");
        await form.getByLabel("Stop when").selectOption(kind);
        await form.getByRole("textbox", { name: label, exact: true }).fill(text);
        await form.getByRole("button", { name: "Run", exact: true }).click();
        return form;
    };
    const form = await run("ends", "Job", "nobody!1");
    assert.match((await form.getByRole("alert").textContent()) ?? "", /No job that has arrived has the name/);
    await form.getByRole("button", { name: "Close" }).click();
    await run("ends", "Job", `${open[workload]}!${open[id]}`);
    const ended = await until((it) => it.messages > before.messages);
    assert.equal(ended.stopped_by, `job ${open[number]} is over`);
    await shows(ended.messages);
    await run("messages", "Number of messages", "25");
    await shows(ended.messages + 25);
});

test("the space bar steps one message wherever the focus is", async () => {
    const before = await resting();
    await page.getByRole("button", { name: /^Step one instant/ }).focus();
    await page.keyboard.press("Space");
    await shows(before.messages + 1);
    assert.equal((await resting()).messages, before.messages + 1, "the button did not act");
    // A click leaves the button.
    await page.getByRole("button", { name: /^Step one message/ }).click();
    await shows(before.messages + 2);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "BODY");
    await page.keyboard.press("Space");
    await shows(before.messages + 3);
    // No press is lost during a step.
    await page.evaluate(() => {
        for (let at = 0; at < 12; at += 1) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true }));
    });
    await shows(before.messages + 15);
    assert.equal(await page.getByRole("alert").count(), 0);
});

test("a simulation offers no picture, and says why", async () => {
    assert.equal(await page.getByRole("button", { name: /^Save a picture/ }).count(), 0);
    await press(page, "x");
    await page.getByText("A simulation has no pictures").waitFor();
    await press(page, "Escape");
});

test("a condition over metrics stops the run", async () => {
    const before = await state();
    await press(page, "b");
    const form = page.getByRole("dialog");
    await form.getByLabel("Stop when").selectOption("condition");
    await form.getByRole("combobox", { name: "Condition", exact: true }).fill(`jobs_over > ${(before.jobs_over ?? 0) + 5}`);
    await form.getByRole("button", { name: "Run", exact: true }).click();
    const now = await until((it) => it.messages > before.messages || it.error !== null);
    assert.equal(now.error, null);
    assert.ok((now.jobs_over ?? 0) > (before.jobs_over ?? 0) + 5, `${(now.jobs_over ?? 0)}`);
});

test("a step back gives the picture of before", async () => {
    const here = await resting();
    await shows(here.messages);
    await press(page, "f");
    await page.waitForTimeout(300);
    const before = await scene(page);
    await press(page, "i");
    await until((it) => it.messages > here.messages);
    await press(page, "Shift+B");
    const form = page.getByRole("dialog");
    await form.getByLabel("To").selectOption("to");
    await form.getByRole("textbox", { name: "Message", exact: true }).fill(String(here.messages));
    await form.getByRole("button", { name: "Back", exact: true }).click();
    await until((it) => it.messages === here.messages);
    await shows(here.messages);
    await press(page, "f");
    await page.waitForTimeout(300);
    const after = await scene(page);
    const plain = (it: typeof after) => it.bars.map((bar) => [bar.chart, bar.job, bar.row, bar.words].join(" ")).sort();
    assert.deepEqual(plain(after), plain(before));
    await press(page, "Backspace");
    await until((it) => it.messages === here.messages - 1);
    await shows(here.messages - 1);
    await press(page, "Shift+I");
    await until((it) => it.messages < here.messages - 1 && it.now < here.now);
});

test("an actor's panel has its knowledge, and what others told it", async () => {
    await press(page, "5");
    await page.getByTestId("actors").getByLabel("Actor").selectOption("grid");
    const glimpse = await served.get<Glimpse>("views/0/actors/grid");
    await page.getByRole("heading", { name: `${glimpse.name} (${glimpse.kind})` }).waitFor();
    const told = page.getByRole("region", { name: "Told by others" }).locator("tbody tr");
    await told.first().waitFor();
    assert.equal(await told.count(), glimpse.told.length);
    await page.getByLabel(/^View as grid/).check();
    await page.waitForFunction(() => location.hash.includes("as=grid"));
    // A metascheduler has no processors.
    await page.waitForFunction(() => window.haggle.scene()?.bars.length === 0);
    await page.getByLabel(/^View as grid/).uncheck();
    await page.getByLabel("View as", { exact: true }).selectOption("north");
    await page.getByText("Its knowledge is hidden from north.").waitFor();
    await rested(page);
    assert.equal(await page.getByRole("alert").count(), 0);
    await page.getByLabel("View as", { exact: true }).selectOption("");
    await told.first().waitFor();
});

test("two pages on one simulation show the same instant", async () => {
    const other = await open(served.address);
    const before = await resting();
    await shows(before.messages, other.page);
    await press(page, "Space");
    await shows(before.messages + 1);
    await shows(before.messages + 1, other.page);
    await press(other.page, "Space");
    await shows(before.messages + 2);
    assert.deepEqual(other.faults, []);
    await other.page.context().close();
});

test("a branch is shown beside its base", async () => {
    const base = await resting();
    await press(page, "n");
    const form = page.getByRole("dialog");
    await form.getByLabel("Settings, one a line").fill("provider.north.policy=nonsense");
    await form.getByRole("button", { name: "Branch", exact: true }).click();
    const told = (await form.getByRole("alert").textContent()) ?? "";
    assert.doesNotMatch(told, /\d{5}|after the change/, told);
    await form.getByLabel("Settings, one a line").fill("provider.north.policy=fcfs");
    await form.getByRole("button", { name: "Branch", exact: true }).click();
    await form.waitFor({ state: "detached" });
    await page.waitForFunction(() => location.hash.includes("beside=0"));
    const branch = await until((it) => it.now >= base.now, 1);
    assert.equal(branch.messages, base.messages);
    await rested(page);
    await page.waitForFunction(() => window.haggle.scene()?.charts.length === 4);
    assert.equal(await page.getByRole("tab", { name: "Compare" }).getAttribute("aria-selected"), "true");
    const ahead = page.getByLabel("Length of a step");
    await ahead.fill("5h");
    await ahead.press("Enter");
    const there = await until((it) => it.now >= base.now + 5 * 3_600e6, 1);
    await shows(there.messages);
    await press(page, "y");
    const here = await until((it) => it.now > base.now);
    assert.equal(here.now, there.now);
    assert.equal((await resting(1)).now, there.now);
    await press(page, "g");
    await until((it) => it.state === "over", 1);
    assert.equal((await state(0)).messages, here.messages, "the base stays");
    await page.getByLabel("View", { exact: true }).selectOption("0");
});

test("a page that is closed stops no run", async () => {
    const other = await open(served.address);
    await press(other.page, "g");
    await other.page.context().close();
    const over = await until((it) => it.state === "over");
    assert.equal(over.jobs_over, over.jobs);
    await page.getByText("over", { exact: true }).first().waitFor();
});

test("nothing went wrong", () => assert.deepEqual(watched.faults.filter((it) => !it.includes("status of 4")), []));
