import assert from "node:assert/strict";
import { test } from "node:test";

import { Newest, questions } from "../../src/newest";

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A server that answers when it is told to. */
function server() {
    const open = new Map<string, { answer: (text: string) => void; fail: (cause: Error) => void; signal: AbortSignal }>();
    const load = (name: string) => (signal: AbortSignal) => new Promise<string>((answer, fail) => open.set(name, { answer, fail, signal }));
    return { open, load };
}

test("the answer to an older question does not count", async () => {
    const { open, load } = server();
    const newest = new Newest<string>();
    const found: string[] = [];
    const ask = (name: string) => newest.ask({ load: load(name), then: (text) => found.push(text), failed: (cause) => found.push(`failed: ${cause}`) });
    ask("old");
    ask("new");
    assert.equal(questions(), 1);
    assert.ok(open.get("old")?.signal.aborted);
    open.get("new")?.answer("new");
    open.get("old")?.answer("old");
    await settle();
    assert.deepEqual(found, ["new"]);
    assert.equal(questions(), 0);
});

test("a forgotten question has no answer, and no failure", async () => {
    const { open, load } = server();
    const newest = new Newest<string>();
    const found: string[] = [];
    for (const name of ["one", "other"]) {
        newest.ask({ load: load(name), then: (text) => found.push(text), failed: (cause) => found.push(`failed: ${cause}`) });
        newest.forget();
    }
    open.get("one")?.answer("one");
    open.get("other")?.fail(new Error("gone"));
    await settle();
    assert.deepEqual(found, []);
    assert.equal(questions(), 0);
});

test("questions that follow quickly make one request", async () => {
    const { open, load } = server();
    const newest = new Newest<string>();
    const found: string[] = [];
    for (const name of ["one", "two", "three"]) newest.ask({ load: load(name), then: (text) => found.push(text), failed: () => undefined, delay: 10 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual([...open.keys()], ["three"]);
    open.get("three")?.fail(new Error("gone"));
    await settle();
    assert.equal(questions(), 0);
});
