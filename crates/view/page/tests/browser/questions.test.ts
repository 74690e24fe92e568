/** The questions of docs/viewer.md, each answered with the number of clicks that the page states. They also make its pictures. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";

import type { Differences, Jobs } from "../../src/api";
import { closeBrowser, open, pictures, placeOf, press, rested, run, scene, serve, work, type Served } from "./support";

const WINDOW = { viewport: { width: 1120, height: 700 } };

let served: Served;
let stepped: Served;

before(async () => {
    const quickstart = "scenarios/quickstart.toml";
    const plain = ["--no-figures"];
    served = await serve(
        run(quickstart, "quickstart", ...plain),
        run(quickstart, "no-backfilling", ...plain, "--set", "provider.*.policy=fcfs"),
        run("scenarios/failing-grid.toml", "failing-grid", ...plain),
    );
    stepped = await serve(quickstart);
});

after(async () => {
    await closeBrowser();
    await served?.stop();
    await stepped?.stop();
});

const folder = pictures() ?? join(work, "pictures");

async function picture(page: Page, name: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    await rested(page);
    await page.waitForTimeout(900);
    await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Counts the clicks of an answer. */
class Hand {
    clicks = 0;

    constructor(readonly page: Page) {}

    async click(what: Locator): Promise<void> {
        this.clicks += 1;
        await what.click();
    }

    async clickAt(x: number, y: number): Promise<void> {
        this.clicks += 1;
        const at = await placeOf(this.page, x, y);
        await this.page.mouse.click(at.x, at.y);
    }

    /** Opening a list and choosing from it. */
    async choose(what: Locator, option: string): Promise<void> {
        this.clicks += 2;
        await what.selectOption(option);
    }
}

const story = (page: Page) => page.locator(".story").innerText();

test("a lecturer: a job that came later starts first; for which reason? 1 click", async () => {
    const { page, faults } = await open(served.address, "v=0&t=172800000000&span=172800000000", WINDOW);
    await picture(page, "charts");
    const hand = new Hand(page);
    const found = await served.get<Jobs>(`views/0/jobs?filter=${encodeURIComponent('provider == "east" && waiting_time > 600 && starting_time > 190000 && starting_time < 330000')}&sort=-execution_time&first=0&count=40`);
    const column = found.columns.findIndex((it) => it.name === "job");
    const jobs = new Set(found.rows.map((row) => row[column]));
    const bar = (await scene(page)).bars.filter((it) => jobs.has(it.job) && it.width > 6 && it.height > 3).sort((a, b) => b.width * b.height - a.width * a.height)[0];
    assert.ok(bar, "a job of the list is in sight");
    await hand.clickAt(bar.x + bar.width / 2, bar.y + bar.height / 2);
    await page.locator(".story li").nth(2).waitFor();
    assert.match(await story(page), /wait|queue|ahead|free/i);
    assert.equal(hand.clicks, 1);
    await picture(page, "story");
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("a lecturer: what does the metascheduler know of the providers? 2 clicks", async () => {
    const { page, faults } = await open(stepped.address, "tab=actors", { ...WINDOW, colorScheme: "dark" });
    await page.getByLabel("Length of a step").fill("3d");
    await page.getByLabel("Length of a step").press("Enter");
    await page.waitForFunction(() => /paused at 3d 00:00/.test(document.querySelector('[data-testid="now"]')?.textContent ?? ""));
    await press(page, "f");
    const hand = new Hand(page);
    await hand.choose(page.getByTestId("actors").getByLabel("Actor"), "grid");
    await page.getByRole("region", { name: "Told by others" }).locator("tbody tr").first().waitFor();
    assert.match(await page.getByTestId("actors").innerText(), /estimate/);
    assert.equal(hand.clicks, 2);
    await page.getByRole("region", { name: "Told by others" }).scrollIntoViewIfNeeded();
    await picture(page, "stepping");
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("a researcher: which jobs lose most without backfilling? 2 clicks", async () => {
    const { page, faults } = await open(served.address, "v=0", WINDOW);
    const hand = new Hand(page);
    await hand.click(page.getByRole("button", { name: /^Compare with/ }));
    await page.getByTestId("compare").getByText("Largest differences").waitFor();
    const right = await served.get<Differences>("views/0/differences?with=1");
    await hand.click(page.getByRole("region", { name: "Largest differences" }).locator("tbody button").first());
    await page.waitForFunction((job) => location.hash.includes(`job=${job}`), right.largest[0]?.job);
    assert.equal(hand.clicks, 2);
    await press(page, "f");
    await picture(page, "compared");
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("an operator: which job waited longest, and what held it back? 3 clicks", async () => {
    const { page, faults } = await open(served.address, "v=0", WINDOW);
    const hand = new Hand(page);
    const heading = page.getByRole("button", { name: /^waiting_time/ });
    await hand.click(heading);
    await hand.click(heading);
    const right = await served.get<Jobs>("views/0/jobs?sort=-waiting_time&first=0&count=1");
    const job = right.rows[0]?.[right.columns.findIndex((it) => it.name === "job")];
    await page.waitForFunction((first) => document.querySelector('[data-testid="jobs"] tr[aria-rowindex="2"] td')?.textContent === String(first), job);
    await hand.click(page.locator('[data-testid="jobs"] tr[aria-rowindex="2"] td').first());
    await page.locator(".story li").nth(2).waitFor();
    assert.match(await story(page), /wait/i);
    assert.equal(hand.clicks, 3);
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("an operator: what did the failures of a day cost? 1 click and a drag", async () => {
    const { page, faults } = await open(served.address, "v=2", WINDOW);
    const drawn = await scene(page);
    assert.ok(drawn.marks.some((it) => it.kind === "failure") && drawn.bars.some((it) => it.words.includes("lost attempt")));
    const hand = new Hand(page);
    const [from, to] = [await placeOf(page, 300, 120), await placeOf(page, 640, 120)];
    await page.keyboard.down("Shift");
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await hand.click(page.getByRole("tab", { name: "Interval" }));
    await page.getByRole("region", { name: "Sums" }).locator("tbody tr").first().waitFor();
    assert.equal(hand.clicks, 1);
    await picture(page, "failures");
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("the page on a telephone", async () => {
    const { page, faults } = await open(served.address, "v=2", { viewport: { width: 390, height: 780 }, hasTouch: true });
    await picture(page, "telephone");
    assert.deepEqual(faults, []);
    await page.context().close();
});
