import assert from "node:assert/strict";
import { test } from "node:test";

import { HEADER, inSight, layout } from "../../src/layout";
import type { Chart, Overview } from "../../src/api";

const chart = (id: number, name: string, rows = 64): Chart => ({ id, name, rows, kind: "provider", row_unit: "processors", first_number: 0, bands: 1, scheduler: null, speed: null, utilisation: null, jobs: null, hidden: false });
const overview = (id: number, charts: Chart[]): Overview => ({
    id,
    kind: "run",
    name: `run ${id}`,
    seen_by: null,
    seed: null,
    version: 1,
    loading: [],
    from: 0,
    until: 1,
    now: null,
    charts,
    actors: [],
    series: [],
    metrics: [],
    tables: [],
    messages: "none",
    kinds: [],
    problems: [],
    pictures: [],
});

test("charts fill the room and do not overlap", () => {
    const { panes, height } = layout(overview(0, [chart(0, "a"), chart(1, "b"), chart(2, "c")]), null, new Set(), 600, 1);
    assert.ok(height <= 600 && height > 590, `${height}`);
    panes.slice(1).forEach((pane, at) => assert.ok(pane.top >= (panes[at]?.body ?? 0) + (panes[at]?.height ?? 0)));
});

test("a closed chart is its header, and a thousand charts are scrolled", () => {
    const { panes } = layout(overview(0, [chart(0, "a"), chart(1, "b")]), null, new Set([0]), 600, 1);
    assert.equal(panes[0]?.height, 0);
    assert.equal(panes[1]?.top, HEADER + 4);
    const many = layout(overview(0, Array.from({ length: 1000 }, (_, id) => chart(id, `c${id}`))), null, new Set(), 600, 1);
    assert.ok(many.height > 50_000);
    assert.ok(inSight(many.panes, 30_000, 600).length < 15);
});

test("charts of two views are paired by name", () => {
    const { panes } = layout(overview(0, [chart(0, "a"), chart(1, "b")]), overview(5, [chart(0, "b"), chart(1, "new")]), new Set(), 600, 1);
    assert.deepEqual(panes.map((it) => `${it.view}.${it.chart.name}.${it.beside}`), ["0.a.5", "0.b.5", "5.b.0", "5.new.0"]);
});
