//! The table `transfers`.

use super::{Integer, Site, table};
use crate::columns::Missing::Never;

table! {
    Transfers, transfers, optional: "One row a route over which data of a grid arrived, from one site or service to \
     another, or within a site; routes without arrivals are left out. If sites are stars, the link between two sites \
     carries the routes of both directions. The link of a site to the services carries its routes to and from \
     `(storage)` and `(checkpoints)`. `bytes` add up to `grid.data.total` of the summary; there, `grid.resources` has \
     the `data` of each resource, which cross its own link. Only runs of grids have it.";

    /// A row of `transfers`.
    TransferRow, TransferCells;

    from: String = Site, "from", "", "name of the site from which they came, `(storage)` (input) or `(checkpoints)` (of jobs that continued)", Never;
    to: String = Site, "to", "", "name of the site at which they arrived, `(storage)` (output) or `(checkpoints)` (of jobs that saved their progress)", Never;
    transfers: i64 = Integer, "transfers", "transfers", "number of completed transfers, without those that were cut off", Never, at_least_one, large;
    bytes: i64 = Integer, "bytes", "bytes", "bytes carried", Never, large;
}
