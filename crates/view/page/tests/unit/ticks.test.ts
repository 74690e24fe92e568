import assert from "node:assert/strict";
import { test } from "node:test";

import { fitted, timeWindow, zoomed } from "../../src/axis";
import { DAY, duration, elapsed, readTime, roundStep, ticks } from "../../src/ticks";

test("elapsed time has units, and as many digits as a step needs", () => {
    const cases: [number, number, string][] = [
        [0, 1, "0"],
        [7, 1, "7 µs"],
        [1_500, 500, "1.5 ms"],
        [20_000, 5_000, "20 ms"],
        [2_000_000, 1_000_000, "2 s"],
        [2_250_000, 50_000, "2.25 s"],
        [90_000_000, 30_000_000, "00:01:30"],
        [3 * DAY + 4 * 3_600e6, 3_600e6, "3d 04:00"],
        [3 * DAY, DAY, "3d"],
        [3 * DAY + 1, 1, "3d 00:00:00.000001"],
        [-1_500, 500, "-1.5 ms"],
    ];
    for (const [time, step, text] of cases) assert.equal(elapsed(time, step), text);
});

test("steps are round and rise", () => {
    let before = 0;
    for (let least = 1; least < 1e16; least *= 1.7) {
        const step = roundStep(least);
        assert.ok(step >= least && step >= before);
        before = step;
    }
});

test("ticks differ in their labels and are not too near, at every zoom", () => {
    for (let span = 10; span < 4e14; span *= 3) {
        const found = ticks(timeWindow(5 * DAY + 123, 0.5, span), 1000).ticks;
        assert.ok(found.length >= 2 && found.length <= 12, `${span}: ${found.length}`);
        assert.equal(new Set(found.map((it) => it.label)).size, found.length, `${span}: ${found.map((it) => it.label).join(", ")}`);
    }
});

test("labels below a second count from the begin of a unit, and fit below 90 pixels", () => {
    const start = 3 * DAY + 4 * 3_600e6 + 5e6;
    const labels = (origin: number, span: number) => {
        const { ticks: found, from } = ticks(timeWindow(origin, 0, span), 1000);
        return [from, ...found.slice(0, 3).map((it) => it.label)];
    };
    assert.deepEqual(labels(start + 123_456, 10), ["3d 04:00:05.123", "+456 µs", "+457 µs", "+458 µs"]);
    assert.deepEqual(labels(start + 122_998, 10), ["3d 04:00:05.122", "+998 µs", "+999 µs", "3d 04:00:05.123"]);
    assert.deepEqual(labels(start + 123_456, 1), ["3d 04:00:05.123", "+456 µs", "+457 µs"]);
    assert.deepEqual(labels(start, 10), [null, "3d 04:00:05.000", "+1 µs", "+2 µs"]);
    assert.deepEqual(labels(start + 500_000, 5e6), ["3d 04:00", "+5.5 s", "+6.0 s", "+6.5 s"]);
    assert.deepEqual(labels(5e6 + 12, 10), [null, "5.000012 s", "5.000013 s", "5.000014 s"]);
    for (let span = 1; span < 1e6; span *= 1.7) {
        const { ticks: found, from } = ticks(timeWindow(start + 999_990, 0.5, span), 1000);
        const whole = found.filter((it) => !it.label.startsWith("+"));
        assert.ok(whole.length <= 1, "at most one whole time");
        assert.ok(found.length === 0 || from !== null || whole[0] === found[0]);
        for (const { label } of found.filter((it) => it.label.startsWith("+"))) assert.ok(label.length <= 12, label);
    }
});

test("zooming out ends at ten years, and ticks are days", () => {
    const bounds = { from: 0, until: 60e6 };
    let window = fitted(bounds);
    for (let step = 0; step < 200; step += 1) window = zoomed(window, 1.3, 0.5, bounds);
    assert.equal(window.span, 10 * 365.25 * DAY);
    const found = ticks(window, 1000).ticks.map((it) => it.label);
    assert.ok(found.includes("0") && found.includes("1000d") && found.includes("-1000d"), found.join());
});

test("times that a user writes are read", () => {
    assert.equal(readTime("90"), 90e6);
    assert.equal(readTime("90s"), 90e6);
    assert.equal(readTime("1.5 ms"), 1_500);
    assert.equal(readTime("3d 4h"), 3 * DAY + 4 * 3_600e6);
    assert.equal(readTime("3d 04:30"), 3 * DAY + 4.5 * 3_600e6);
    assert.equal(readTime("00:01:30"), 90e6);
    for (const text of ["", "soon", "3 x", "4h later"]) assert.equal(readTime(text), null, text);
});

test("what is written can be read again", () => {
    for (const time of [1, 1_500, 2_250_000, 90_000_000, 3 * DAY + 4 * 3_600e6, 3 * DAY + 61e6 + 1]) assert.equal(readTime(elapsed(time, 1)), time);
});

test("spans have one or two units", () => {
    assert.equal(duration(null), "–");
    assert.equal(duration(2 * 3_600e6 + 300e6), "2 h 05 min");
    assert.equal(duration(-61e6), "-1 min 01 s");
});
