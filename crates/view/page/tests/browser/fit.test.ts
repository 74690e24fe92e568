/** Tables of the tabs have room in windows of three widths. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { join } from "node:path";
import type { Page } from "playwright-core";

import { closeBrowser, open, press, run, scenario, serve } from "./support";

const shots = process.env["HAGGLE_SHOTS"];
const WIDTHS = [
    [1440, 900],
    [1120, 800],
    [390, 844],
] as const;

after(closeBrowser);

/** Boxes of the tabs whose contents are wider than they are. */
async function tooWide(page: Page): Promise<string[]> {
    await page.waitForTimeout(400);
    return page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>(".panel, .panel .wide")].filter((it) => it.scrollWidth > it.clientWidth).map((it) => `${it.getAttribute("aria-label") ?? it.className}: ${it.scrollWidth} > ${it.clientWidth}`),
    );
}

async function shot(page: Page, name: string): Promise<void> {
    if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) });
}

test("tables of a run fit their tabs", async () => {
    const path = scenario();
    const served = await serve(run(path, "A"), run(path, "B", "--set", "provider.north.policy=fcfs", "--set", "provider.east.policy=fcfs"));
    let cells = 0;
    for (const [width, height] of WIDTHS) {
        const { page, faults } = await open(served.address, "job=190&beside=1&interval=3600000000~80000000000", { viewport: { width, height } });
        for (const tab of ["1", "2", "3", "4", "5", "6"]) {
            await press(page, tab);
            if (tab === "5") await page.getByTestId("actors").getByLabel("Actor").selectOption("grid");
            assert.deepEqual(await tooWide(page), [], `tab ${tab}, ${width} pixels`);
            const empty = page.locator(".side .stacked tbody td:empty");
            assert.equal(await empty.filter({ visible: true }).count(), 0, `tab ${tab}, ${width} pixels`);
            if (tab === "1") cells += await empty.count();
            await page.locator(".side").scrollIntoViewIfNeeded();
            await shot(page, `run-${width}-${tab}`);
        }
        assert.ok((await page.getByRole("region", { name: "Largest differences" }).locator("tbody tr").count()) > 0);
        assert.deepEqual(faults, []);
        await page.context().close();
    }
    assert.ok(cells > 0, "the table of the parts has cells without a value");
    await served.stop();
});

test("tables of a simulation fit their tabs", async () => {
    const served = await serve(scenario());
    for (const [width, height] of WIDTHS) {
        const { page, faults } = await open(served.address, "job=153", { viewport: { width, height } });
        await page.getByLabel("Length of a step").fill("1d");
        await page.getByLabel("Length of a step").press("Enter");
        await page.waitForFunction(() => /paused at [1-9]d|over/.test(document.querySelector('[data-testid="now"]')?.textContent ?? ""));
        for (const tab of ["1", "3", "5"]) {
            await press(page, tab);
            if (tab === "5") await page.getByTestId("actors").getByLabel("Actor").selectOption("grid");
            await page.waitForTimeout(300);
            assert.deepEqual(await tooWide(page), [], `tab ${tab}, ${width} pixels`);
            await page.locator(".side").scrollIntoViewIfNeeded();
            await shot(page, `sim-${width}-${tab}`);
        }
        // The job is not known before its submission.
        assert.deepEqual(faults.filter((it) => !it.includes("status of 4")), []);
        await page.context().close();
    }
    await served.stop();
});
