import assert from "node:assert/strict";
import { test } from "node:test";

import { timeWindow } from "../../src/axis";
import { readTile, styleInWords, styleOf, type Tile } from "../../src/tile";
import { COLUMNS, extent, indices, levelFor, rowIndices, rowLevelFor, TileCache, type Address } from "../../src/tiles";

/** A tile as the server writes it. */
function written(bars: readonly (readonly [number, number, number, number, number, number])[], cells = false): ArrayBuffer {
    const [columns, lanes] = [8, 4];
    const buffer = new ArrayBuffer(64 + 24 * bars.length + 20 + 20 + (cells ? 2 * columns * lanes : 0));
    const view = new DataView(buffer);
    [0x31544748, columns, lanes, 2].forEach((word, at) => view.setUint32(4 * at, word, true));
    view.setFloat64(16, 3e14, true);
    view.setFloat64(24, 3e14 + 1024, true);
    [10, bars.length, 1, 1, cells ? 1 : 0, 0].forEach((word, at) => view.setUint32(32 + 4 * at, word, true));
    view.setBigUint64(56, 77n, true);
    let at = 64;
    for (const column of [0, 1, 2, 3, 4, 5] as const) {
        for (const bar of bars) {
            if (column < 2) view.setFloat32(at, bar[column], true);
            else view.setUint32(at, bar[column], true);
            at += 4;
        }
    }
    view.setFloat32(at, 0.25, true);
    view.setFloat32(at + 4, 0.5, true);
    [3, 2, 1].forEach((word, place) => view.setUint32(at + 8 + 4 * place, word, true));
    view.setFloat32(at + 20, 0.75, true);
    [4, 1, 9, 2].forEach((word, place) => view.setUint32(at + 24 + 4 * place, word, true));
    if (cells) new Uint8Array(buffer, at + 40).fill(200, 0, columns * lanes);
    return buffer;
}

test("a tile is read column after column", () => {
    const tile = readTile(written([[0, 0.5, 2, 1, 7, 0x20010], [0.5, 2, 3, 4, 8, 0x5]], true));
    assert.deepEqual([tile.from, tile.until, tile.firstRow, tile.rows, tile.version], [3e14, 3e14 + 1024, 2, 10, 77]);
    assert.deepEqual([...tile.bars.start], [0, 0.5]);
    assert.deepEqual([...tile.bars.end], [0.5, 2]);
    assert.deepEqual([...tile.bars.row, ...tile.bars.rows, ...tile.bars.job], [2, 3, 1, 4, 7, 8]);
    assert.deepEqual([tile.marks.count, tile.marks.start[0], tile.marks.row[0], tile.marks.kind[0]], [1, 0.25, 3, 1]);
    assert.deepEqual([tile.ticks.time[0], tile.ticks.row[0], tile.ticks.job[0], tile.ticks.kind[0]], [0.75, 4, 9, 2]);
    assert.equal(tile.density?.busy.length, 32);
    assert.equal(tile.density?.busy[31], 200);
    assert.equal(tile.density?.lost[0], 0);
});

test("a tile that is cut or is none is refused", () => {
    const whole = written([[0, 1, 0, 1, 0, 0]], true);
    for (const bytes of [0, 10, 63, 64, whole.byteLength - 1]) assert.throws(() => readTile(whole.slice(0, bytes)), /cut/);
    assert.throws(() => readTile(new ArrayBuffer(64)), /not a tile/);
});

test("styles are read from their bits", () => {
    const style = styleOf(3 | 16 | 64 | (4 << 8) | (6 << 16));
    assert.deepEqual(style, { class: 3, lost: true, running: false, planned: true, givenUp: false, difference: 4, colour: 6 });
    assert.equal(styleInWords(1 | 16), "external job, lost attempt");
});

test("tiles of a level cover a window, and have 512 to 1024 pixels", () => {
    for (let span = 1; span < 3e14; span *= 2.7) {
        const window = timeWindow(1e14 + 5, 0.5, span);
        const level = levelFor(span, 1500);
        const pixels = (2 ** level / span) * 1500;
        assert.ok(level === 0 || (pixels >= COLUMNS / 2 && pixels < COLUMNS * 1.0001), `${span}: ${pixels}`);
        const found = indices(window, level, { from: 0, until: 3e15 });
        const length = 2 ** level;
        assert.ok((found[0] ?? 0) * length <= window.origin);
        assert.ok(((found.at(-1) ?? 0) + 1) * length >= window.origin + window.offset + span - 1);
        assert.ok(found.length <= 5);
    }
});

test("rows are cut into tiles, and all rows into one", () => {
    const whole = rowLevelFor(100, 400, 100);
    assert.deepEqual(rowIndices(0, 100, whole, 100), [0]);
    const level = rowLevelFor(10, 400, 100);
    assert.equal(level, 4);
    assert.deepEqual(rowIndices(20, 10, level, 100), [1]);
    const address: Address = { view: 0, chart: 0, level: 10, index: 3, rowLevel: 4, rowIndex: 6, beside: null, as: null };
    assert.deepEqual(extent(address, 100), { from: 3072, until: 4096, firstRow: 96, rows: 4, lanes: 256 });
});

function cacheOf(bytesMost: number) {
    const asked: string[] = [];
    const cache = new TileCache(
        async (address) => {
            asked.push(`${address.level}.${address.index}`);
            await Promise.resolve();
            return readTile(written([[0, 1, 0, 1, address.index, 0]]));
        },
        () => undefined,
        bytesMost,
    );
    const draw = (level: number, index: number, version = 1): Tile | null => {
        cache.begin();
        const tile = cache.get({ view: 0, chart: 0, level, index, rowLevel: 4, rowIndex: 0, beside: null, as: null }, version);
        cache.end();
        return tile;
    };
    return { cache, asked, draw };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

test("a tile is asked for once, and again when the data have grown", async () => {
    const { asked, draw } = cacheOf(1e6);
    assert.equal(draw(5, 1), null);
    assert.equal(draw(5, 1), null);
    await settle();
    assert.equal(draw(5, 1)?.bars.job[0], 1);
    assert.deepEqual(asked, ["5.1"]);
    assert.notEqual(draw(5, 1, 2), null, "the old tile is shown until the new one is here");
    await settle();
    assert.deepEqual(asked, ["5.1", "5.1"]);
});

test("coarser and finer tiles stand in for a missing one", async () => {
    const { cache, draw } = cacheOf(1e6);
    draw(6, 0);
    await settle();
    const missing: Address = { view: 0, chart: 0, level: 5, index: 1, rowLevel: 4, rowIndex: 0, beside: null, as: null };
    assert.equal(cache.ancestor(missing)?.address.level, 6);
    assert.equal(cache.ancestor({ ...missing, index: 2 }), null);
    assert.equal(cache.children({ ...missing, level: 7, index: 0 }).length, 1);
});

test("the cache forgets the tiles that were used longest ago", async () => {
    const { cache, asked, draw } = cacheOf(600);
    const dropped: number[] = [];
    cache.onDrop = (tile) => dropped.push(tile.bars.job[0] ?? -1);
    for (let index = 0; index < 12; index += 1) {
        draw(5, index);
        await settle();
    }
    draw(5, 11);
    assert.ok(cache.size <= 600 + 128, `${cache.size}`);
    assert.equal(dropped[0], 0);
    assert.ok(!dropped.includes(11));
    draw(5, 0);
    await settle();
    assert.equal(asked.filter((it) => it === "5.0").length, 2);
});

test("a server that fails is not asked for ever", async () => {
    let asked = 0;
    const cache = new TileCache(
        async () => {
            asked += 1;
            throw new Error("gone");
        },
        () => undefined,
    );
    for (let frame = 0; frame < 20; frame += 1) {
        cache.begin();
        cache.get({ view: 0, chart: 0, level: 1, index: 1, rowLevel: 1, rowIndex: 0, beside: null, as: null }, 1);
        cache.end();
        await settle();
    }
    assert.equal(asked, 3);
});
