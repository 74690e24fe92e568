/** The selection with a server of which the test decides the answers. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import type { Job, Overview } from "../../src/api";
import { listFrom, watchMessages, messages } from "../../src/messages";
import * as state from "../../src/state";

const asked: { path: string; answer: (body: unknown, status?: number) => void }[] = [];
globalThis.fetch = ((path: string) => new Promise((done) => asked.push({ path, answer: (body, status = 200) => done(new Response(JSON.stringify(body), { status })) }))) as unknown as typeof fetch;
globalThis.location = { hash: "" } as Location;
globalThis.history = { replaceState: () => undefined } as unknown as History;

const overview = (version: number, id = 0) => ({ id, version, kind: "run", from: 0, until: 1e9, now: null, loading: [], charts: [], actors: [], series: [] }) as unknown as Overview;
const job = (number: number, more: Partial<Job> = {}): Job => ({ job: number, values: [], attempts: [], bars: [], promises: [], previous_of_user: null, next_of_user: null, story: null, ...more });
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const last = (path: string) => {
    const found = asked.filter((it) => it.path === `api/${path}`).at(-1);
    assert.ok(found, `${path} is not among ${asked.map((it) => it.path)}`);
    return found;
};

state.watch();
watchMessages();

beforeEach(async () => {
    state.viewId.value = 0;
    state.overview.value = overview(1);
    state.select(null);
    state.interval.value = null;
    await settle();
    asked.length = 0;
});

test("the answer about an older selection does not count", async () => {
    state.select(1);
    const first = last("views/0/jobs/1");
    state.select(2);
    last("views/0/jobs/2").answer(job(2));
    first.answer(job(1));
    await settle();
    assert.equal(state.details.value?.job, 2);
});

test("nothing is selected when the answer comes too late", async () => {
    state.select(1);
    const first = last("views/0/jobs/1");
    state.select(null);
    first.answer(job(1));
    await settle();
    assert.equal(state.details.value, null);
});

test("a job that is unknown while tables are read is asked for again", async () => {
    state.select(3);
    last("views/0/jobs/3").answer({ error: "there is no job 3", help: null }, 404);
    await settle();
    assert.equal(state.detailsError.value, "there is no job 3");
    state.overview.value = overview(2);
    last("views/0/jobs/3").answer(job(3));
    await settle();
    assert.deepEqual([state.details.value?.job, state.detailsError.value], [3, null]);
    assert.equal(asked.length, 2);
    state.overview.value = overview(2);
    assert.equal(asked.length, 2, "equal data are not asked for again");
});

test("an overview of the same data changes nothing", async () => {
    const before = state.overview.value;
    for (const [version, changes] of [[1, false], [2, true]] as const) {
        const refreshed = state.refresh();
        await settle();
        last("views/0").answer(overview(version));
        await refreshed;
        assert.equal(state.overview.value !== before, changes, `version ${version}`);
    }
});

test("while tables are read, the overview is asked for again", async () => {
    const stop = state.waitForTables();
    const reading = (version: number, loading: string[]) => ({ ...overview(version), loading });
    state.overview.value = reading(1, ["jobs"]);
    for (const [version, loading] of [[1, ["jobs"]], [2, []]] as const) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        assert.equal(asked.length, 1);
        last("views/0").answer(reading(version, [...loading]));
        await settle();
        asked.length = 0;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(asked.length, 0);
    stop();
});

test("the details of another view are removed, and asked for there", async () => {
    state.select(4);
    last("views/0/jobs/4").answer(job(4));
    await settle();
    state.viewId.value = 1;
    assert.ok(state.details.value === null);
    state.overview.value = overview(1, 1);
    last("views/1/jobs/4").answer(job(4));
    await settle();
    assert.equal((state.details.value as Job | null)?.job, 4);
});

test("a double click shows a job from its submission to its end", async () => {
    state.zoomToJob(5);
    last("views/0/jobs/5").answer(job(5, { values: [{ name: "submission_time", value: 100, unit: "s", hidden: false, meaning: "" }], bars: [{ chart: 0, row: 0, rows: 1, start: 400e6, end: 500e6, style: 0 }] }));
    await settle();
    const { origin, offset, span } = state.time.value;
    assert.ok(origin + offset < 100e6 && origin + offset + span > 500e6, `${origin} ${span}`);
    assert.ok(span < 600e6);
});

test("messages of an interval that was left do not come back", async () => {
    state.interval.value = { from: 0, until: 10 };
    await new Promise((resolve) => setTimeout(resolve, 120));
    const found = asked.find((it) => it.path.includes("/messages"));
    assert.ok(found);
    state.interval.value = null;
    found.answer({ total: 1, rows: [], note: null });
    await settle();
    assert.equal(messages.value, null);
});

test("the next messages are listed, and another interval begins with its first one", async () => {
    const first = async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        const path = asked.filter((it) => it.path.includes("/messages")).at(-1)?.path ?? "";
        return new URLSearchParams(path.split("?")[1]).get("first");
    };
    state.interval.value = { from: 0, until: 10 };
    assert.equal(await first(), "0");
    listFrom(500);
    assert.equal(await first(), "500");
    state.interval.value = { from: 0, until: 20 };
    assert.equal(await first(), "0");
});
