import assert from "node:assert/strict";
import { test } from "node:test";

import { around, centred, fitted, interval, moved, position, timeAt, timeWindow, zoomed } from "../../src/axis";

const YEAR = 365.25 * 86_400e6;
const BOUNDS = { from: 0, until: 10 * YEAR };

test("a window begins at a whole microsecond and a part of one", () => {
    assert.deepEqual(timeWindow(10, 2.5, 4), { origin: 12, offset: 0.5, span: 4 });
    assert.deepEqual(timeWindow(10, -0.25, 4), { origin: 9, offset: 0.75, span: 4 });
    assert.deepEqual(timeWindow(10.5, 0.75, 4), { origin: 11, offset: 0.25, span: 4 });
});

test("positions and times are inverse", () => {
    const window = timeWindow(123_456_789, 0.25, 1e6);
    for (const share of [0, 0.1, 0.5, 0.999, 1]) {
        assert.ok(Math.abs(position(window, timeAt(window, share)) - share) <= 0.5 / 1e6);
    }
});

test("the time below the pointer stays there, from ten years to a microsecond and back", () => {
    const time = Math.round(9.87 * YEAR) + 1;
    let window = fitted(BOUNDS);
    const share = position(window, time);
    for (let step = 0; step < 400; step += 1) {
        window = zoomed(window, 0.8, position(window, time), BOUNDS);
        assert.ok(position(window, time) >= -1e-6 && position(window, time) <= 1 + 1e-6, `step ${step}`);
    }
    assert.equal(window.span, 1);
    assert.ok(Math.abs(position(window, time) - share) < 0.1, "one microsecond fills the window, and the time is still there");
    for (let step = 0; step < 400; step += 1) window = zoomed(window, 1.25, position(window, time), BOUNDS);
    assert.ok(window.span >= 10 * YEAR);
});

test("neighbouring microseconds are apart, ten years after the start", () => {
    const late = 10 * YEAR - 3;
    const window = timeWindow(late, 0.5, 2);
    assert.equal(position(window, late + 1), 0.25);
    assert.equal(position(window, late + 2), 0.75);
});

test("a window cannot leave the data", () => {
    const bounds = { from: 0, until: 1000 };
    let window = fitted(bounds);
    for (let step = 0; step < 50; step += 1) window = moved(window, 0.7, bounds);
    assert.ok(position(window, 1000) >= 0.5 - 1e-9);
    for (let step = 0; step < 50; step += 1) window = moved(window, -0.7, bounds);
    assert.ok(position(window, 0) <= 0.5 + 1e-9);
});

test("an interval of a window has at least a microsecond", () => {
    assert.deepEqual(interval(timeWindow(5, 0.1, 0.2)), { from: 5, until: 6 });
    assert.equal(position(centred(timeWindow(0, 0, 100), 70), 70), 0.5);
    const window = around(100, 200, 0.5);
    assert.ok(Math.abs(position(window, 100) - 0.25) < 1e-9 && Math.abs(position(window, 200) - 0.75) < 1e-9);
});
