//! Tiles against an obvious implementation: bars and density cover what the bars of the chart cover.

use haggle_view::scene::{Bar, Chart, ChartKind, TileQuery};
use proptest::prelude::*;

/// Largest allowed difference of a share: a byte has 255 steps, and each is rounded.
const STEP: f64 = 0.003;

fn bar(start: i64, length: i64, row: u32, rows: u32, job: u32) -> Bar {
    let end = start + length;
    Bar { start, end, row, rows, job, attempt: 1, look: 0, colour: 0 }
}

/// Bars without overlaps: of each row of places, lengths and gaps one after the other.
fn bars() -> impl Strategy<Value = Vec<Bar>> {
    let long = prop_oneof![0_i64..3, 0_i64..100, 0_i64..20_000, 0_i64..3_000_000];
    let one = (long.clone(), long, 1_u32..4);
    proptest::collection::vec(proptest::collection::vec(one, 0..40), 1..8).prop_map(|places| {
        let mut bars = Vec::new();
        for (place, all) in places.into_iter().enumerate() {
            let mut now = -50_000;
            for (gap, length, rows) in all {
                let row = place as u32 * 4;
                bars.push(bar(now + gap, length, row, rows, bars.len() as u32));
                now += gap + length;
            }
        }
        bars
    })
}

fn query() -> impl Strategy<Value = TileQuery<'static>> {
    let time = prop_oneof![-100_i64..100, -60_000_i64..500_000, -60_000_i64..100_000_000];
    let length = prop_oneof![1_i64..50, 1_i64..100_000, 1_i64..300_000_000];
    (time, length, 1_u32..60, 0_u32..20, 1_u32..40, 1_u32..40).prop_map(
        |(from, length, columns, first_row, rows, lanes)| TileQuery {
            from,
            to: from + length,
            columns,
            first_row,
            rows,
            lanes,
            compared: None,
        },
    )
}

/// Covered share of a cell: columns and lanes are half-open intervals.
fn covered(bar: &Bar, query: &TileQuery<'_>, column: u32, lane: u32) -> f64 {
    let overlap =
        |from: f64, to: f64, start: f64, end: f64| (to.min(end) - from.max(start)).max(0.0);
    let wide = (query.to - query.from) as f64 / f64::from(query.columns);
    let left = query.from as f64 + f64::from(column) * wide;
    let high = f64::from(query.rows) / f64::from(query.drawn_lanes());
    let top = f64::from(query.first_row) + f64::from(lane) * high;
    let time = overlap(left, left + wide, bar.start as f64, bar.end as f64) / wide;
    let rows = f64::from(bar.row)..f64::from(bar.row + bar.rows);
    time * overlap(top, top + high, rows.start, rows.end) / high
}

fn is_inside(bar: &Bar, query: &TileQuery<'_>) -> bool {
    bar.start < query.to
        && (bar.end > query.from || bar.start >= query.from)
        && bar.row < query.first_row + query.rows
        && bar.row + bar.rows > query.first_row
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bars_and_density_cover_what_the_chart_covers(bars in bars(), query in query()) {
        let mut chart = Chart::new("north".to_owned(), ChartKind::Provider);
        chart.rows = 32;
        chart.set_bars(bars.clone());
        let tile = chart.tile(&query);
        // Each bar that is large enough is there once, with its place.
        let mut expected = Vec::from_iter(
            bars.iter().filter(|it| is_inside(it, &query) && query.is_drawn(it)).map(|it| (it.job, it.row, it.rows)),
        );
        let mut found = Vec::from_iter(tile.bars.iter().map(|it| (it.4, it.2, it.3)));
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        let part = |time: i64| ((time - query.from) as f64 / (query.to - query.from) as f64).clamp(-1.0, 2.0);
        for it in &tile.bars {
            let bar = bars.iter().find(|bar| bar.job == it.4).expect("a bar");
            prop_assert!((f64::from(it.0) - part(bar.start)).abs() < 1e-6);
            prop_assert!((f64::from(it.1) - part(bar.end)).abs() < 1e-6);
        }
        // The others are in the density.
        let small = Vec::from_iter(bars.iter().filter(|it| is_inside(it, &query) && !query.is_drawn(it)));
        prop_assert_eq!(tile.density.is_some(), !small.is_empty());
        let Some((busy, lost)) = &tile.density else { return Ok(()) };
        prop_assert!(lost.iter().all(|it| *it == 0));
        for lane in 0..query.drawn_lanes() {
            for column in 0..query.columns {
                let share: f64 = small.iter().map(|it| covered(it, &query, column, lane)).sum();
                let byte = busy[(lane * query.columns + column) as usize];
                let found = f64::from(byte) / 255.0;
                // A cell with any bar has at least one step.
                let low = share.min(1.0) - STEP;
                let high = (share + STEP).max(1.0 / 255.0 + 1e-9);
                prop_assert!(low <= found && found <= high, "{} {} {} {}", lane, column, share, found);
                if share > 0.0 {
                    prop_assert!(byte > 0);
                }
            }
        }
    }

    #[test]
    fn the_job_at_a_place_has_a_bar_there(bars in bars(), time in -60_000_i64..5_000_000, row in 0_u32..32) {
        let mut chart = Chart::new("north".to_owned(), ChartKind::Provider);
        chart.rows = 32;
        chart.set_bars(bars.clone());
        let here = bars.iter().filter(|it| {
            let is_long = it.start <= time && time < it.end;
            (is_long || it.start == time) && it.row <= row && row < it.row + it.rows
        });
        let expected = here.max_by_key(|it| (it.start, it.job)).map(|it| it.job);
        prop_assert_eq!(chart.at(time, row), expected);
    }
}

#[test]
fn a_tile_of_many_bars_is_no_larger_than_one_of_few() {
    let of = |count: i64| {
        let bars = (0..count).map(|it| bar(it * 10, 9, (it % 64) as u32, 1, it as u32)).collect();
        let mut chart = Chart::new("north".to_owned(), ChartKind::Provider);
        chart.rows = 64;
        chart.set_bars(bars);
        let query = TileQuery {
            from: 0,
            to: count * 10,
            columns: 800,
            first_row: 0,
            rows: 64,
            lanes: 400,
            compared: None,
        };
        chart.tile(&query).encode(1).len()
    };
    assert_eq!(of(10_000), of(500_000));
}

#[test]
fn bytes_have_the_documented_places() {
    let mut chart = Chart::new("north".to_owned(), ChartKind::Provider);
    chart.rows = 8;
    chart.set_bars(vec![bar(100, 100, 2, 3, 77), bar(300, 1, 0, 1, 78)]);
    let query =
        TileQuery { from: 0, to: 400, columns: 4, first_row: 0, rows: 8, lanes: 8, compared: None };
    let bytes = chart.tile(&query).encode(9);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let real = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!(&bytes[..4], b"HGT1");
    assert_eq!((word(4), word(8), word(12)), (4, 8, 0));
    assert_eq!((real(16), real(24)), (0.0, 400.0));
    assert_eq!([word(32), word(36), word(40), word(44), word(48), word(52)], [8, 1, 0, 0, 1, 0]);
    assert_eq!((word(56), word(60)), (9, 0));
    let part = |at: usize| f32::from_bits(word(at));
    assert_eq!((part(64), part(68)), (0.25, 0.5));
    assert_eq!([word(72), word(76), word(80), word(84)], [2, 3, 77, 0]);
    assert_eq!(bytes.len(), 88 + 2 * 32);
    assert_eq!(bytes[88..120].iter().filter(|it| **it > 0).count(), 1);
    assert_eq!(bytes[88 + 3], 3);
}
