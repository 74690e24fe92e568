//! The letters of a page: the glyphs of the font that it uses, and the embedded part of the font.
//! Because of this part, text can be searched and copied, and looks the same in every viewer and
//! printer.

use std::collections::BTreeMap;

use ab_glyph::{Font, GlyphId};
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;

use crate::error::PlotError;
use crate::type_face;

/// The font in the resources of the page.
pub(super) const FONT: Name<'static> = Name(b"F");
/// Six letters before the name mark a part of a font.
const BASE_FONT: Name<'static> = Name(b"HAGGLE+DejaVuSans");
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The letters that a page has.
pub(super) struct Letters {
    glyphs: GlyphRemapper,
    /// The letter and the width, in thousandths of the size, of each glyph.
    known: BTreeMap<u16, (char, f32)>,
}

impl Letters {
    pub(super) fn new() -> Letters {
        Letters { glyphs: GlyphRemapper::new(), known: BTreeMap::new() }
    }

    /// The numbers of the glyphs of a text, two bytes each.
    pub(super) fn encode(&mut self, text: &str) -> Vec<u8> {
        let font = type_face::font();
        let mut bytes = Vec::with_capacity(text.len() * 2);
        for letter in text.chars() {
            let glyph = font.glyph_id(letter);
            let number = self.glyphs.remap(glyph.0);
            let advance = font.h_advance_unscaled(glyph) * 1000.0 / em();
            // A letter that the font lacks is glyph 0.
            let letter = if glyph == GlyphId(0) { '\u{fffd}' } else { letter };
            // Of several letters with one glyph, text is copied as the first.
            self.known.entry(number).or_insert((letter, advance));
            bytes.extend(number.to_be_bytes());
        }
        bytes
    }

    /// Writes the font; `pack` compresses its embedded part.
    pub(super) fn write(
        &self,
        pdf: &mut Pdf,
        [font, descendant, descriptor, file, letters]: [Ref; 5],
        pack: impl Fn(&[u8]) -> Result<Vec<u8>, PlotError>,
    ) -> Result<(), PlotError> {
        let part = subsetter::subset(type_face::BYTES, 0, &self.glyphs);
        let part = part.map_err(|error| PlotError::Drawing(error.to_string()))?;
        let packed = pack(&part)?;
        pdf.stream(file, &packed).filter(Filter::FlateDecode);
        let mut names = UnicodeCmap::new(Name(b"Letters"), SYSTEM);
        for (&number, &(letter, _)) in &self.known {
            names.pair(number, letter);
        }
        pdf.cmap(letters, &names.finish());
        let mut whole = pdf.type0_font(font);
        whole.base_font(BASE_FONT).encoding_predefined(Name(b"Identity-H"));
        whole.descendant_font(descendant).to_unicode(letters);
        drop(whole); // it borrows the page
        let mut glyphs = pdf.cid_font(descendant);
        glyphs.subtype(CidFontType::Type2).base_font(BASE_FONT).system_info(SYSTEM);
        glyphs.font_descriptor(descriptor).default_width(0.0);
        glyphs.cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = glyphs.widths();
        for (&number, &(_, advance)) in &self.known {
            widths.consecutive(number, [advance]);
        }
        drop(widths);
        drop(glyphs);
        let unscaled = type_face::font();
        let thousandths = |value: f32| (value * 1000.0 / em()).round();
        let (ascent, descent) =
            (thousandths(unscaled.ascent_unscaled()), thousandths(unscaled.descent_unscaled()));
        let widest = self.known.values().map(|(_, advance)| *advance).fold(0.0, f32::max);
        let mut about = pdf.font_descriptor(descriptor);
        about.name(BASE_FONT).flags(FontFlags::SYMBOLIC).italic_angle(0.0);
        about.bbox(Rect::new(0.0, descent, widest, ascent)).ascent(ascent).descent(descent);
        about.cap_height(thousandths(type_face::capital())).stem_v(80.0).font_file2(file);
        Ok(())
    }

    /// True if the page has any text.
    pub(super) fn are_none(&self) -> bool {
        self.known.is_empty()
    }
}

/// The size of the font in its own units.
pub(super) fn em() -> f32 {
    type_face::font().units_per_em().unwrap_or(1000.0)
}
