//! Colours that can be distinguished with any colour vision (Okabe and Ito 2008). Grey replaces black,
//! which whiskers and text use.

use crate::scene::Colour;

pub(crate) const WHITE: Colour = Colour(255, 255, 255);
pub(crate) const INK: Colour = Colour(0x22, 0x22, 0x22);
pub(crate) const FAINT: Colour = Colour(0xdd, 0xdd, 0xdd);
pub(crate) const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
pub(crate) const VERMILION: Colour = Colour(0xd5, 0x5e, 0x00);

/// Colours of series.
pub(crate) const COLOURS: usize = 8;

/// The yellow of the original comes last: it is too pale for lines on white.
const SERIES: [Colour; COLOURS] = [
    BLUE,
    VERMILION,
    Colour(0x00, 0x9e, 0x73), // bluish green
    Colour(0xcc, 0x79, 0xa7), // reddish purple
    Colour(0x56, 0xb4, 0xe9), // sky blue
    Colour(0xe6, 0x9f, 0x00), // orange
    Colour(0x70, 0x70, 0x70), // grey
    Colour(0xf0, 0xe4, 0x42), // yellow
];

/// The colour of the series with this number.
pub(crate) fn series(number: usize) -> Colour {
    SERIES[number % SERIES.len()]
}

/// The colour of a group with this number. Groups beyond the palette get paler colours.
pub(crate) fn group(number: usize) -> Colour {
    let round = (number / SERIES.len()) as i32;
    tint(series(number), 0.35_f64.powi(round))
}

/// Blue mixed with white: 0 = white, 1 = blue.
pub(crate) fn shade(share: f64) -> Colour {
    tint(BLUE, share)
}

/// A colour mixed with white: 0 = white, 1 = the colour.
pub(crate) fn tint(colour: Colour, share: f64) -> Colour {
    let mix = |channel: u8| (255.0 - (255.0 - f64::from(channel)) * share).round() as u8;
    Colour(mix(colour.0), mix(colour.1), mix(colour.2))
}

/// Black or white, whichever is more readable on a colour.
pub(crate) fn on(colour: Colour) -> Colour {
    let Colour(red, green, blue) = colour;
    // Brightness by the weights of ITU-R BT.601.
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light > 140.0 { Colour(0, 0, 0) } else { WHITE }
}
