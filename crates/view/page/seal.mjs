// Writes the sums of the bundle's files beside them, in the format of sha256sum, and checks its size.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Most bytes of the compressed bundle. */
const COMPRESSED_MAX = 400_000;
const SUMS = "bundle.sha256";

const folder = new URL("../bundle/", import.meta.url);
const names = readdirSync(folder).filter((name) => name !== SUMS).sort();
const files = names.map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) }));
const sum = (bytes) => createHash("sha256").update(bytes).digest("hex");
writeFileSync(new URL(SUMS, folder), files.map(({ name, bytes }) => `${sum(bytes)}  ${name}\n`).join(""));

const compressed = files.map(({ bytes }) => gzipSync(bytes, { level: 9 }).length).reduce((a, b) => a + b, 0);
console.log(`${names.join(", ")}: ${compressed} bytes compressed`);
if (compressed > COMPRESSED_MAX) {
    console.error(`the bundle may have ${COMPRESSED_MAX} bytes compressed: remove a library or code`);
    process.exit(1);
}
