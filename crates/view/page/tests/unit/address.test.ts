import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING, read, write, type Shown } from "../../src/address";

test("an address gives the same view again", () => {
    const shown: Shown = {
        view: 3,
        beside: 0,
        time: { origin: 315_576_000_000_001, offset: 0.25, span: 12.5 },
        job: 0,
        interval: { from: 5, until: 99 },
        filter: 'waiting_time > 3600 && user == "a&b=#c%"',
        sort: "-start_time",
        row: 120,
        as: "north & <b>east</b>",
        tab: "messages",
        closed: [2, 17],
        rows: [
            [1, 4.5, 16],
            [2, 0, 3],
        ],
    };
    assert.deepEqual(read(write(shown)), shown);
    assert.deepEqual(read(`#${write(shown)}`), shown);
});

test("nothing is an empty address", () => {
    assert.equal(write(NOTHING), "");
    assert.deepEqual(read(""), NOTHING);
});

test("parts that cannot be read are left out", () => {
    const found = read("#v=-3&beside=x&t=1.5&span=0&job=1e99&interval=9~5&rows=1~2_q~1~2_3~0~8&closed=1.x.2&row=-4&unknown=1");
    assert.deepEqual(found, { ...NOTHING, closed: [1, 2], rows: [[3, 0, 8]] });
});
