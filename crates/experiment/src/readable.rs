//! Aligned columns, and numbers and times in a readable form.

/// Rows as lines: the columns in `left` start, all others end at one place. Lines begin
/// with two blanks, so that a table stands out from the text around it.
pub fn lines(rows: &[Vec<String>], left: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        // Characters, not bytes: `±` has two bytes.
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let cell = match left.contains(&column) {
                true => format!("  {cell:<width$}"),
                false => format!("  {cell:>width$}"),
            };
            line.push_str(&cell);
        }
        // Empty last cells would leave blanks at the ends of lines.
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A row of a table out of texts.
pub fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A number with a suitable number of decimals for its size.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size >= LARGE => format!("{value:.3e}"),
        size if size >= 100_000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 1000.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.6}"),
    }
}

/// Seconds to the microsecond, in which tables are exact, without zeros at the end.
pub fn exact_seconds(value: f64) -> String {
    without_zeros(&format!("{value:.6}"))
}

/// Numbers of one row: if one has a power of ten, all have. `-` stands for none.
pub fn alike<const N: usize>(values: [Option<f64>; N]) -> [String; N] {
    let is_large = |value: &f64| value.abs() >= LARGE;
    let any_is_large = values.iter().flatten().any(is_large);
    values.map(|value| match value {
        None => "-".to_owned(),
        // Zero needs no power of ten.
        Some(value) if any_is_large && value != 0.0 => format!("{value:.3e}"),
        Some(value) => number(value),
    })
}

/// From here on numbers are written with a power of ten.
const LARGE: f64 = 1e9;

/// Seconds with at least three digits; whole seconds from a thousand on.
pub fn seconds(value: f64) -> String {
    without_zeros(&match value.abs() {
        // From 999.5 on, rounding gives a thousand. Returned at once, because zeros of whole numbers must stay.
        size if size >= 999.5 => return format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.01 => format!("{value:.4}"),
        _ => format!("{value:.6}"),
    })
}

fn without_zeros(number: &str) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A duration in seconds and, from two minutes on, also in days, hours and minutes. Whole seconds
/// then suffice.
pub fn duration(value: f64) -> String {
    let whole = value.abs().round() as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let about = match (days, hours, minutes) {
        (0, 0, 0 | 1) => return format!("{} s", seconds(value)),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    };
    format!("{value:.0} s ({about})")
}

/// An instant in days, hours and minutes since the start of the run; empty in the first minute.
pub fn clock(value: f64) -> String {
    // Rounded down, as clocks show minutes.
    let minutes = (value / 60.0).floor() as u64;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => String::new(),
        (0, 0, _) => format!("{minutes} min"),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h {minutes} min"),
    }
}

/// `1 job`, `2 jobs`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [row(["job", "s"]), row(["a!1", "12.5"]), row(["workload!7", "3"])];
        assert_eq!(
            lines(&rows, &[0]),
            "  job            s\n  a!1         12.5\n  workload!7     3\n"
        );
    }

    #[test]
    fn times_read_well() {
        assert_eq!(duration(59.25), "59.25 s");
        assert_eq!(duration(7_260.0), "7260 s (2 h 1 min)");
        assert_eq!(duration(97_602.190531), "97602 s (1 d 3 h)");
        assert_eq!(exact_seconds(200_000.000001), "200000.000001");
        assert_eq!(
            [0.0, 0.000002, 0.5, 150.0, 999.96].map(seconds).join(" "),
            "0 0.000002 0.5 150 1000"
        );
        assert_eq!(duration(200_000.000001), "200000 s (2 d 7 h)");
        assert_eq!(clock(59.9), "");
        assert_eq!(clock(200_040.0), "2 d 7 h 34 min");
        assert_eq!(number(1234.56), "1234.6");
        assert_eq!(number(-0.5), "-0.5000");
        assert_eq!(number(12.0), "12");
    }

    #[test]
    fn numbers_of_a_row_have_one_format() {
        let row = alike([Some(6.039e9), Some(187_184_580.0), Some(0.0), None]);
        assert_eq!(row, ["6.039e9", "1.872e8", "0", "-"]);
        assert_eq!(alike([Some(12.0), Some(0.5)]), ["12", "0.5000"]);
    }
}
