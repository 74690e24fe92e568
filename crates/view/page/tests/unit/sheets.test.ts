import assert from "node:assert/strict";
import { test } from "node:test";

import { onSheet, phaseOf, type Painter, type Rect, type Sheet } from "../../src/painter";
import { Sheets } from "../../src/sheets";
import type { Tile } from "../../src/tile";

const tile = (bars: number, from = 0) => ({ from, until: from + 1024, firstRow: 0, rows: 10, bars: { count: bars } }) as unknown as Tile;
const CLIP = { x: 0, y: 0, width: 4000, height: 4000 };
const at = (x0: number, xScale: number) => ({ x0, xScale, y0: 7, yScale: 20 });

function painter() {
    const done: string[] = [];
    const boxes: Rect[] = [];
    const made: Painter = {
        name: "canvas",
        plain: null,
        resize: () => undefined,
        begin: () => undefined,
        tile: () => void done.push("tile"),
        sheet: (of, xScale, yScale): Sheet => {
            done.push("sheet");
            const { width, height } = onSheet(of, xScale, yScale);
            return { width, height };
        },
        lay: (_, box) => {
            done.push("lay");
            boxes.push(box);
        },
        forgetSheet: () => void done.push("forget"),
        forgetTile: () => undefined,
    };
    const sheets = new Sheets(made);
    const picture = (moving: boolean, draw: () => void, look = "light") => {
        done.length = 0;
        sheets.begin(look, moving);
        draw();
        sheets.end();
        return done.join(" ");
    };
    return { boxes, sheets, picture, made };
}

test("a tile is drawn bar by bar once, and moved as a bitmap", () => {
    const { boxes, sheets, picture } = painter();
    const one = tile(100);
    assert.equal(picture(false, () => sheets.draw(one, at(10.4, 800), CLIP)), "sheet lay");
    assert.deepEqual(boxes.at(-1), { x: 10, y: 7, width: 801, height: 201 });
    assert.equal(picture(true, () => sheets.draw(one, at(33.6, 800), CLIP)), "lay");
    assert.deepEqual(boxes.at(-1), { x: 34, y: 7, width: 801, height: 201 });
    assert.equal(sheets.unfinished, false);
});

test("a bitmap is stretched while the window moves, and drawn again when it rests", () => {
    const { boxes, sheets, picture } = painter();
    const one = tile(100);
    picture(false, () => sheets.draw(one, at(0, 800), CLIP));
    assert.equal(picture(true, () => sheets.draw(one, at(0, 600), CLIP)), "lay");
    assert.equal(boxes.at(-1)?.width, 801 * 0.75);
    assert.ok(sheets.unfinished);
    assert.equal(picture(false, () => sheets.draw(one, at(0, 600), CLIP)), "forget sheet lay");
    assert.equal(boxes.at(-1)?.width, 601);
    assert.ok(!sheets.unfinished);
    assert.equal(picture(false, () => sheets.draw(one, at(0, 600), CLIP), "dark"), "forget sheet lay", "other colours");
});

test("a picture draws a bounded number of bars, and the next one goes on", () => {
    const { sheets, picture } = painter();
    const tiles = Array.from({ length: 4 }, () => tile(40_000));
    const found: boolean[] = [];
    const all = () => tiles.forEach((it) => found.push(sheets.draw(it, at(0, 800), CLIP)));
    assert.equal(picture(false, all), "sheet lay sheet lay");
    assert.deepEqual(found, [true, true, false, false]);
    assert.ok(sheets.unfinished);
    assert.equal(picture(false, all), "lay lay sheet lay sheet lay");
    assert.equal(picture(false, all), "lay lay lay lay");
    assert.ok(!sheets.unfinished);
});

test("a tile that is larger than a bitmap is drawn bar by bar", () => {
    const { sheets, picture } = painter();
    assert.equal(picture(false, () => sheets.draw(tile(3), at(0, 5000), CLIP)), "tile");
    assert.ok(!sheets.unfinished);
});

test("the bitmaps that were used longest ago are removed", () => {
    const { made } = painter();
    const sheets = new Sheets(made, 4 * 801 * 201 * 2);
    const forgotten: Sheet[] = [];
    made.forgetSheet = (sheet) => void forgotten.push(sheet);
    for (let number = 0; number < 4; number += 1) {
        sheets.begin("light", false);
        sheets.draw(tile(1, number * 1024), at(0, 800), CLIP);
        sheets.end();
    }
    assert.equal(forgotten.length, 2, "no more stay than fit");
});

test("patterns continue from tile to tile", () => {
    const [one, next] = [tile(0, 5 * 1024), tile(0, 6 * 1024)];
    const [left, right] = [phaseOf(one, 700.25, 20, 1), phaseOf(next, 700.25, 20, 1)];
    assert.ok(Math.abs(((left.x + 700.25 - right.x) % 504) + 0) < 1e-6);
    assert.ok(phaseOf(tile(0, -1024), 700, 20, 1.5).x >= 0);
});
