/**
 * Frames a second with 100,000 visible bars, by Chromium's own trace. Tiles come from the test, so that only the
 * page is measured. Headless Chromium draws in software here: a graphics card is faster. Not a part of the gate.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { browser, closeBrowser, rested, run, scenario, scene, serve, type Served } from "../browser/support";

const BARS = 100_000;
const SECONDS = 5;

let served: Served;

before(async () => {
    served = await serve(run(scenario(), "conservative"));
});

after(async () => {
    await closeBrowser();
    await served?.stop();
});

/** A tile in which all of its part of the bars are wider than a pixel. */
function tile(query: URLSearchParams, rows: number, each: number, until: number): Buffer {
    const [from, to, columns, lanes] = ["from", "to", "columns", "lanes"].map((name) => Number(query.get(name))) as [number, number, number, number];
    const length = until / each;
    const first = Math.max(0, Math.floor(from / length));
    const last = Math.min(each, Math.ceil(to / length));
    const count = rows * Math.max(0, last - first);
    const bytes = Buffer.alloc(64 + 24 * count);
    [0x31544748, columns, lanes, 0].forEach((word, at) => bytes.writeUInt32LE(word, 4 * at));
    bytes.writeDoubleLE(from, 16);
    bytes.writeDoubleLE(to, 24);
    [rows, count, 0, 0, 0, 0].forEach((word, at) => bytes.writeUInt32LE(word, 32 + 4 * at));
    bytes.writeBigUInt64LE(1n, 56);
    let at = 0;
    for (let bar = first; bar < last; bar += 1) {
        for (let row = 0; row < rows; row += 1, at += 1) {
            const start = (bar + (row % 7) / 9) * length;
            bytes.writeFloatLE(Math.max(-1, (start - from) / (to - from)), 64 + 4 * at);
            bytes.writeFloatLE(Math.min(2, (start + 0.85 * length - from) / (to - from)), 64 + 4 * (count + at));
            const words = [row, 1, bar * rows + row, (bar % 8) << 16];
            words.forEach((word, column) => bytes.writeUInt32LE(word, 64 + 4 * ((2 + column) * count + at)));
        }
    }
    return bytes;
}

for (const plain of [false, true]) {
    test(plain ? "without WebGL" : "with WebGL", async () => {
        const page = await (await browser()).newPage({ viewport: { width: 1920, height: 1080 } });
        let until = 1;
        await page.route(/\/api\/views\/0$/, async (route) => {
            const answer = await route.fetch();
            const overview = (await answer.json()) as { until: number; charts: { rows: number }[] };
            until = overview.until;
            overview.charts.forEach((chart) => (chart.rows = 200));
            await route.fulfill({ response: answer, json: overview });
        });
        const charts = 2;
        await page.route(/\/tile\?/, (route) => route.fulfill({ body: tile(new URL(route.request().url()).searchParams, 200, BARS / charts / 200, until), contentType: "application/octet-stream" }));
        await page.goto(`${served.address}${plain ? "?canvas" : ""}`);
        await rested(page);
        const drawn = await scene(page);
        assert.ok(drawn.bars.length >= 0.98 * BARS, `${drawn.bars.length} bars`);
        await (await browser()).startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline.frame"] });
        // A move of one pixel a frame, to and fro, as fast as the page draws.
        const work = await page.evaluate(async (seconds) => {
            const start = performance.now();
            const before = window.haggle.frames();
            for (let step = 0; performance.now() - start < 1000 * seconds; step += 1) {
                const target = document.querySelector(".scroller");
                target?.dispatchEvent(new WheelEvent("wheel", { deltaX: step % 40 < 20 ? 2 : -2, clientX: 600, clientY: 300, bubbles: true, cancelable: true }));
                await new Promise(requestAnimationFrame);
            }
            return { frames: window.haggle.frames() - before, seconds: (performance.now() - start) / 1000 };
        }, SECONDS);
        const trace = JSON.parse((await (await browser()).stopTracing()).toString()) as { traceEvents: { name: string; ph: string; dur?: number; tid: number }[] };
        const frames = trace.traceEvents.filter((it) => it.name === "DrawFrame").length;
        const scripts = trace.traceEvents.filter((it) => it.name === "FireAnimationFrame" && it.dur !== undefined).map((it) => (it.dur ?? 0) / 1000);
        scripts.sort((a, b) => a - b);
        const middle = scripts[Math.floor(scripts.length / 2)] ?? 0;
        console.log(`${drawn.bars.length} bars, painter ${drawn.painter}: ${(work.frames / work.seconds).toFixed(1)} pictures a second drawn by the page, ${(frames / work.seconds).toFixed(1)} frames a second in the trace, ${middle.toFixed(1)} ms of script a frame (median)`);
        assert.ok(work.frames > 0);
        await page.close();
    });
}
