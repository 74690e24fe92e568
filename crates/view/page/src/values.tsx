/** Values with units: times and spans in words, with the exact number as the title. */

import type { Typed } from "./api";
import { Fitted } from "./fitted";
import { duration } from "./ticks";
import { at, compact, valueInWords } from "./words";

const isList = (value: Typed): value is readonly Typed[] => Array.isArray(value);

/** A value as text. */
export function typedInWords(value: Typed | undefined): string {
    if (value === null || value === undefined || typeof value !== "object") return valueInWords(value);
    if (isList(value)) return value.map(typedInWords).join(", ");
    if ("time" in value) return at(value.time);
    if ("span" in value) return duration(value.span);
    if ("job" in value) return `job ${value.job}`;
    return value.fields.map(([name, it]) => `${name} ${typedInWords(it)}`).join(" ");
}

/** The exact number of a time or a span, for titles; undefined for other values. */
function exact(value: Typed | undefined): string | undefined {
    if (value === null || value === undefined || typeof value !== "object" || isList(value)) return undefined;
    if ("time" in value) return `${compact(value.time)} µs`;
    if ("span" in value) return `${compact(value.span)} µs`;
    return undefined;
}

/** A value on the page. */
export function Shown({ value }: { value: Typed | undefined }) {
    if (value !== null && typeof value === "object" && isList(value)) {
        return (
            <>
                {value.map((it, place) => (
                    <>
                        {place > 0 && (typeof it === "object" ? "; " : ", ")}
                        <Shown value={it} />
                    </>
                ))}
            </>
        );
    }
    if (value !== null && typeof value === "object" && "fields" in value) return <Named of={value.fields} />;
    return <span title={exact(value)}>{typedInWords(value)}</span>;
}

/** Names and values in a line. */
export function Named({ of }: { of: readonly (readonly [string, Typed])[] }) {
    return (
        <>
            {of.map(([name, value], place) => (
                <>
                    {place > 0 && ", "}
                    <span class="name">{name}</span> <Shown value={value} />
                </>
            ))}
        </>
    );
}

/** The most records of a table; the number of the others is told. */
const RECORDS_MOST = 500;

/** Records with the same fields as a table. */
export function Records({ title, records }: { title: string; records: readonly Readonly<Record<string, Typed>>[] }) {
    if (records.length === 0) return null;
    const names = [...new Set(records.flatMap((it) => Object.keys(it)))];
    return (
        <>
            <h3>{`${title} (${compact(records.length)})`}</h3>
            <Fitted
                label={title}
                columns={names.map((name) => ({ name: name.replaceAll("_", " ") }))}
                rows={records.slice(0, RECORDS_MOST).map((record) => ({ cells: names.map((name) => <Shown value={record[name]} />) }))}
            />
            {records.length > RECORDS_MOST && <p class="hint">{`The first ${RECORDS_MOST} are shown.`}</p>}
        </>
    );
}
