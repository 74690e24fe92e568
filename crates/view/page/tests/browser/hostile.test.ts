import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { Job, Overview } from "../../src/api";
import { closeBrowser, copied, open, press, run, scenario, serve, type Served } from "./support";

/** Names that would run or change the page as markup, or change the order of letters. */
const MARKUP = "<img src=x onerror=alert(1)>";
const NAMES: Record<string, string> = {
    north: MARKUP,
    "north-jobs": "<script>alert(2)</script>",
    "external-users": "javascript:alert(3)//</title><svg onload=alert(4)>",
    grid: "\u001b[31mred\u202Egnp.exe",
};
/** A name of a megabyte, in a few rows of each table. */
const LONG = "long ".repeat(200_000);
const LONG_MOST = 3;

function renamed(table: string): string {
    let long = 0;
    const cell = (text: string) => {
        const name = NAMES[text];
        if (name === undefined) return text;
        long += text === "grid" ? 1 : 0;
        const whole = text === "grid" && long <= LONG_MOST ? name + LONG : name;
        return `"${whole.replaceAll('"', '""')}"`;
    };
    const [heading = "", ...lines] = table.split("\n");
    return [heading, ...lines.map((line) => line.split(",").map(cell).join(","))].join("\n");
}

let served: Served;

before(async () => {
    const whole = run(scenario(), "plain", "--format", "csv");
    const hostile = copied(whole, "hostile");
    for (const name of readdirSync(hostile).filter((it) => it.endsWith(".csv"))) {
        const path = join(hostile, name);
        writeFileSync(path, renamed(readFileSync(path, "utf8")));
    }
    const cut = copied(whole, "cut");
    for (const name of ["attempts.csv", "messages.csv", "failures.csv", "summary.json"]) rmSync(join(cut, name), { force: true });
    served = await serve(hostile, cut);
});

after(async () => {
    await closeBrowser();
    await served?.stop();
});

test("names are text: nothing runs, and no request leaves", async () => {
    const { page, faults } = await open(served.address);
    const overview = await served.get<Overview>("views/0");
    const text = JSON.stringify(overview);
    assert.ok(text.includes("onerror=alert(1)"), "the name is in the answer of the server");
    assert.ok(text.length < 200_000, `${text.length} letters`);
    const job = await served.get<Job>("views/0/jobs/3");
    await page.evaluate(() => (location.hash = "job=3"));
    await page.getByTestId("job").waitFor();
    assert.ok(job.values.length > 10);
    for (const tab of ["2", "3", "4", "5", "6"]) {
        await press(page, tab);
        await page.waitForTimeout(150);
    }
    await press(page, "r");
    await press(page, "/");
    await page.keyboard.type("alert");
    await page.waitForTimeout(400);
    await page.keyboard.press("Escape");
    assert.ok((await page.locator("body").innerText()).includes(MARKUP), "the markup is shown as text");
    assert.equal(await page.locator("img, script:not([src]), svg[onload], iframe").count(), 0);
    assert.deepEqual(faults, []);
    await page.context().close();
});

test("a folder with missing tables shows the rest, and says so", async () => {
    const { page, faults } = await open(served.address, "v=1");
    await press(page, "4");
    const overview = await served.get<Overview>("views/1");
    assert.ok(overview.problems.length > 0 || overview.tables.length > 0);
    for (const problem of overview.problems) await page.getByText(problem).first().waitFor();
    assert.deepEqual(faults.filter((it) => !it.includes("status of 4")), []);
    await page.context().close();
});

test("an address that is wrong shows the first view", async () => {
    const { page, faults } = await open(served.address, "v=99&beside=77&t=x&job=999999&as=nobody&filter=%22%3E%3Cimg%3E&tab=none&rows=1");
    assert.ok((await page.title()).endsWith("haggle"));
    assert.deepEqual(faults.filter((it) => !it.includes("status of 4")), []);
    await page.context().close();
});

