/**
 * Frames a second with 100,000 visible bars, by Chromium's own trace. Tiles come from the test, so that only the
 * page is measured. Without a graphics card, set HAGGLE_NO_CARD: Chromium then draws in software, as it does for
 * users of such a machine. The time of scripts, as time of the processor, can be compared between machines. Not a
 * part of the gate.
 */

import assert from "node:assert/strict";
import { loadavg } from "node:os";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";

import { browser, closeBrowser, rested, run, scenario, scene, serve, useCard, type Served } from "../browser/support";

const BARS = 100_000;
const SECONDS = 5;

let served: Served;

before(async () => {
    useCard();
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

interface TraceEvent {
    readonly name: string;
    readonly dur?: number;
    /** Time of the processor, µs. */
    readonly tdur?: number;
    readonly tid: number;
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Turns the wheel once in each frame, as fast as the page draws, and prints the numbers of the trace. */
async function measured(page: Page, name: string, wheel: readonly { readonly deltaX?: number; readonly deltaY?: number }[]): Promise<void> {
    await rested(page);
    await (await browser()).startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"] });
    const work = await page.evaluate(
        async ([turns, seconds]) => {
            const start = performance.now();
            const before = window.haggle.frames();
            for (let step = 0; performance.now() - start < 1000 * seconds; step += 1) {
                const target = document.querySelector(".scroller");
                target?.dispatchEvent(new WheelEvent("wheel", { ...turns[step % turns.length], clientX: 600, clientY: 300, bubbles: true, cancelable: true }));
                await new Promise(requestAnimationFrame);
            }
            return { frames: window.haggle.frames() - before, seconds: (performance.now() - start) / 1000 };
        },
        [wheel, SECONDS] as const,
    );
    const { traceEvents: events } = JSON.parse((await (await browser()).stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    const drawn = events.filter((it) => it.name === "DrawFrame").length;
    const scripts = events.filter((it) => it.name === "FireAnimationFrame" && it.tdur !== undefined);
    const main = scripts[0]?.tid;
    const tasks = events.filter((it) => it.name === "RunTask" && it.tid === main).reduce((sum, it) => sum + (it.tdur ?? 0), 0);
    const [processor, clock] = [median(scripts.map((it) => (it.tdur ?? 0) / 1000)), median(scripts.map((it) => (it.dur ?? 0) / 1000))];
    const load = loadavg()[0]?.toFixed(1);
    console.log(
        `${name}: ${(work.frames / work.seconds).toFixed(1)} pictures and ${(drawn / work.seconds).toFixed(1)} frames a second; a picture takes ${processor.toFixed(2)} ms of scripts (${clock.toFixed(2)} ms by the clock), and ${(tasks / 1000 / Math.max(work.frames, 1)).toFixed(2)} ms of the main thread; load ${load}`,
    );
    assert.ok(work.frames > 0);
}

const turns = (one: object, other: object) => [...Array.from({ length: 20 }, () => one), ...Array.from({ length: 20 }, () => other)];

for (const painter of ["", "?webgl", "?canvas"]) {
    test(painter === "" ? "as the page chooses" : painter, async () => {
        const page = await (await browser()).newPage({ viewport: { width: 1920, height: 1080 } });
        page.setDefaultTimeout(180_000);
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
        await page.goto(`${served.address}${painter}`);
        await rested(page);
        const drawn = await scene(page);
        assert.ok(drawn.bars.length >= 0.98 * BARS, `${drawn.bars.length} bars`);
        console.log(`${drawn.bars.length} bars, painter ${drawn.painter}`);
        await measured(page, "pan", turns({ deltaX: 2 }, { deltaX: -2 }));
        await measured(page, "zoom", turns({ deltaY: -8 }, { deltaY: 8 }));
        await page.close();
    });
}
