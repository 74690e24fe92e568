import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import axe from "axe-core";
import type { Page } from "playwright-core";

import { closeBrowser, open, press, run, scenario, serve, type Served } from "./support";

let served: Served;

before(async () => {
    const path = scenario();
    served = await serve(run(path, "conservative"), run(path, "fcfs", "--set", "provider.*.policy=fcfs"));
});

after(async () => {
    await closeBrowser();
    await served?.stop();
});

async function violations(page: Page): Promise<string[]> {
    await page.evaluate(axe.source);
    const found = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
    return found.violations.map((it) => `${it.id}: ${it.help}: ${it.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

for (const colorScheme of ["light", "dark"] as const) {
    test(`axe finds nothing, ${colorScheme}`, async () => {
        const { page, faults } = await open(served.address, "job=3", { colorScheme });
        for (const tab of ["1", "2", "3", "4", "5", "6"]) {
            await press(page, tab);
            await page.waitForTimeout(150);
            assert.deepEqual(await violations(page), [], `tab ${tab}`);
        }
        for (const key of ["?", "h", "x"]) {
            await press(page, key);
            await page.getByRole("dialog").waitFor();
            assert.deepEqual(await violations(page), [], `dialog ${key}`);
            await page.keyboard.press("Escape");
        }
        await press(page, "c");
        await page.getByTestId("compare").getByText("Largest differences").waitFor();
        await press(page, "r");
        assert.deepEqual(await violations(page), [], "compared, as tables");
        assert.deepEqual(faults, []);
        await page.context().close();
    });
}

for (const [width, height] of [
    [390, 844],
    [768, 1024],
    [3840, 2160],
] as const) {
    test(`the page fits ${width} pixels`, async () => {
        const { page, faults } = await open(served.address, "", { viewport: { width, height } });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} pixels are wider than the window`);
        const charts = await page.getByTestId("charts").boundingBox();
        assert.ok(charts && charts.height >= 250 && charts.width >= 0.6 * Math.min(width, 2000), JSON.stringify(charts));
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(faults, []);
        await page.context().close();
    });
}

test("all can be reached by keys alone", async () => {
    const { page } = await open(served.address);
    const reached = new Set<string>();
    for (let at = 0; at < 60; at += 1) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.slice(0, 40) ?? ""));
    }
    for (const name of ["View", "Search a job, chart, resource or actor", "View as", "Save a picture (X)", "Summary", "Filter of jobs", "Rows of jobs"]) {
        assert.ok(reached.has(name), `${name} is not among ${[...reached].join(" · ")}`);
    }
    await page.context().close();
});
