//! Montage: images are projected, differences of overlapping ones are fitted, and the corrected images
//! are added up. There are about four differences an image. Our own assumption: images lie in a row,
//! and each overlaps the nearest ones.

use super::draw::{Draw, Stored};
use crate::GraphError;

const HEADER: f64 = 304.0;
const IMAGE: f64 = 4_222_080.0;
const PROJECTED: (f64, f64) = (4_162_432.0, 113_770_496.0);
/// A fit and a difference of two images.
const FIT: f64 = 273.74 + 284_097.20;
/// A mosaic of one square degree, which has 50 images.
const MOSAIC: f64 = 173_465_280.0;
const IMAGES_PER_DEGREE: f64 = 50.0;

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let rest = tasks - 6;
    let mut images = (rest + 3) / 6;
    // So few images have fewer pairs than differences are needed.
    while images * (images - 1) / 2 + 2 * images < rest {
        images += 1;
    }
    let differences = rest - 2 * images;
    let (image_count, difference_count) = (images as f64, differences as f64);
    let degrees = (image_count / IMAGES_PER_DEGREE).sqrt();

    let mut projected = Vec::with_capacity(images);
    for _ in 0..images {
        let task = draw.drawn("mProjectPP", (13.59, 0.06), Stored::input(HEADER + IMAGE))?;
        // The image and the area that it covers.
        projected.push((task, 2.0 * draw.size(PROJECTED)));
    }
    let pairs = (1..images).flat_map(|away| (away..images).map(move |one| (one - away, one)));
    let mut fits = Vec::with_capacity(differences);
    for (one, other) in pairs.take(differences) {
        let task = draw.drawn("mDiffFit", (10.59, 0.01), Stored::input(HEADER))?;
        for (image, bytes) in [projected[one], projected[other]] {
            draw.edge(image, task, bytes)?;
        }
        fits.push(task);
    }
    let concat = Stored::input(27.2617 * difference_count);
    let concat = draw.task("mConcatFit", 0.08 * difference_count, concat)?;
    for fit in fits {
        draw.edge(fit, concat, FIT)?;
    }
    let model = Stored::input(167.556 * image_count);
    let model = draw.task("mBgModel", 0.13 * difference_count, model)?;
    draw.edge(concat, model, 209.953 * difference_count)?;
    let mut corrected = Vec::with_capacity(images);
    for (image, bytes) in projected {
        let task = draw.drawn("mBackground", (10.74, 0.03), Stored::NOTHING)?;
        draw.edge(image, task, bytes)?;
        draw.edge(model, task, 53.1778 * image_count)?;
        corrected.push((task, bytes));
    }
    let table = Stored::input(167.556 * image_count);
    let table = draw.task("mImgTbl", 0.37 * image_count, table)?;
    for (image, bytes) in corrected {
        draw.edge(image, table, bytes)?;
    }
    let add = draw.task("mAdd", 30.11 * degrees * degrees, Stored::input(HEADER))?;
    draw.edge(table, add, 352.24 * image_count)?;
    let mosaic = draw.size_between(0.9, 1.1) * MOSAIC * degrees;
    let shrink = draw.task("mShrink", 12.21 * degrees, Stored::NOTHING)?;
    draw.edge(add, shrink, 2.0 * mosaic)?;
    let shrunken = mosaic / 24.99;
    let picture = shrunken / 4.0;
    let jpeg = draw.task("mJPEG", picture / 549_291.0, Stored::output(picture))?;
    draw.edge(shrink, jpeg, shrunken)
}
