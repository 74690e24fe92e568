import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOf } from "../../src/story";

const untimed = (...texts: string[]) => texts.map((text) => ({ time: null, text }));

test("aligned columns are a table, and other lines stay", () => {
    const lines = [
        { time: 5, text: "submitted" },
        ...untimed("Its time:", "", "                     waiting  running", "  too few free          12.5        0", "  computing                0      100", "", "It waited 12.5 s.", "  On arrival, job 3 was ahead of it."),
    ];
    assert.deepEqual(partsOf(lines), [
        { line: { time: 5, text: "submitted" } },
        { line: { time: null, text: "Its time:" } },
        {
            table: {
                head: ["", "waiting", "running"],
                rows: [
                    ["too few free", "12.5", "0"],
                    ["computing", "0", "100"],
                ],
                numeric: [false, true, true],
            },
        },
        { line: { time: null, text: "It waited 12.5 s." } },
        { line: { time: null, text: "  On arrival, job 3 was ahead of it." } },
    ]);
});

test("empty cells and names with marks stay in their columns", () => {
    const parts = partsOf(untimed("  job  name         held", "    1  <b>über</b>     5", "   12               17.5", "  Two words only"));
    assert.deepEqual(parts, [
        {
            table: {
                head: ["job", "name", "held"],
                rows: [
                    ["1", "<b>über</b>", "5"],
                    ["12", "", "17.5"],
                ],
                numeric: [true, false, true],
            },
        },
        { line: { time: null, text: "  Two words only" } },
    ]);
});

test("one line with wide gaps is no table", () => {
    assert.deepEqual(partsOf(untimed("  a   b")), [{ line: { time: null, text: "  a   b" } }]);
});
