//! The network that carries data: an actor that moves data on request, and reports their arrival. A
//! grid has one, and so have providers between which tasks share links.
//!
//! It stands for the network itself, which is beside every actor. So messages to it and from it
//! take no time.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::network::{FlowId, Flows, LinkSharing, Node, Path, Sites, Star};
use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
use crate::protocol::{DataMessage, Message, RunMessage, Timer, Transfer};
use crate::{Actor, Outbox};

/// The path of a transfer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Routes {
    /// The same for every transfer, and not shared.
    Constant(Path),
    /// Sites as stars.
    Star(Arc<Star>),
    /// Between sites of actors.
    Sites(Arc<Sites>),
}

impl Routes {
    fn connects(&self, nodes: [Node; 2]) -> bool {
        match self {
            Routes::Constant(_) => true,
            Routes::Star(star) => nodes.iter().all(|&node| star.has(node)),
            Routes::Sites(sites) => nodes.iter().all(|&node| sites.has(node)),
        }
    }

    fn path(&self, from: Node, to: Node) -> Path {
        match self {
            _ if from == to => Path::local(),
            Routes::Constant(path) => path.clone(),
            Routes::Star(star) => star.path(from, to),
            Routes::Sites(sites) => sites.path(from, to),
        }
    }

    /// Flows over their links, none yet.
    fn flows(&self, sharing: LinkSharing) -> Flows {
        match self {
            Routes::Constant(_) => Flows::unshared(),
            Routes::Star(star) => Flows::new(star.network(), sharing),
            Routes::Sites(sites) => Flows::new(sites.network(), sharing),
        }
    }

    /// Own flows and paths for the data between a resource and services, if these share no link
    /// with data of other resources.
    pub(crate) fn private(
        &self,
        resource: usize,
        services: [Node; 2],
        sharing: LinkSharing,
    ) -> Option<(Flows, Vec<(Node, Path)>)> {
        let spoke = match self {
            Routes::Constant(path) => {
                return Some((Flows::unshared(), services.map(|it| (it, path.clone())).to_vec()));
            }
            Routes::Star(star) => star.spoke(resource),
            Routes::Sites(_) => return None,
        };
        let first = Node::Resource(0);
        let paths = services.map(|it| (it, spoke.path(first, it))).to_vec();
        let own = spoke.link_of(first);
        // The link of the resource itself carries its data only.
        let is_private = paths.iter().all(|(_, path)| path.shared().iter().all(|&it| it == own));
        is_private.then(|| (Flows::new(spoke.network(), sharing), paths))
    }
}

/// The load of the links at some instant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    routes: Routes,
    flows: Flows,
}

impl Traffic {
    /// Time of a transfer of `bytes`, if no other transfer started or ended (equation 5.2).
    pub fn predicted(&self, from: Node, to: Node, bytes: u64) -> Span {
        self.flows.predicted(&self.routes.path(from, to), bytes)
    }
}

/// Two pictures are equal if they have equally many flows; for tests that compare messages.
impl PartialEq for Traffic {
    fn eq(&self, other: &Traffic) -> bool {
        self.flows.len() == other.flows.len()
    }
}

/// Moves data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DataNetwork {
    routes: Routes,
    flows: Flows,
    under_way: BTreeMap<FlowId, Order>,
    flow_of: BTreeMap<(ActorId, u32), FlowId>,
}

/// The sender of a request for a transfer, and the nodes at its ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Order {
    owner: ActorId,
    number: u32,
    ends: [Node; 2],
    /// True if it is a checkpoint for which a machine waits.
    is_checkpoint: bool,
}

impl DataNetwork {
    /// A network without transfers.
    pub fn new(routes: Routes, sharing: LinkSharing) -> DataNetwork {
        let flows = routes.flows(sharing);
        DataNetwork { routes, flows, under_way: BTreeMap::new(), flow_of: BTreeMap::new() }
    }

    /// Starts a transfer. Refuses it if its nodes are not connected, or its number is in use.
    fn start(
        &mut self,
        now: Time,
        owner: ActorId,
        asked: Transfer,
        is_checkpoint: bool,
        out: &mut Outbox,
    ) {
        let Transfer { number, from, to, bytes } = asked;
        let order = Order { owner, number, ends: [from, to], is_checkpoint };
        // Both owner and number, because every actor numbers its own transfers.
        let is_new = !self.flow_of.contains_key(&(owner, number));
        if !is_new || !self.routes.connects(order.ends) {
            return out.refuse(owner);
        }
        let flow = self.flows.start(now, self.routes.path(from, to), bytes);
        self.under_way.insert(flow, order);
        self.flow_of.insert((owner, number), flow);
    }

    fn abort(&mut self, now: Time, flow: FlowId) -> Option<Order> {
        self.flows.abort(now, flow);
        let order = self.under_way.remove(&flow)?;
        self.flow_of.remove(&(order.owner, order.number));
        Some(order)
    }

    /// Aborts the transfers of other actors from or to a failed node. The failed actor aborts its
    /// own transfers.
    fn on_node_failed(&mut self, now: Time, failed: ActorId, node: Node, out: &mut Outbox) {
        let hit = |(flow, order): (&FlowId, &Order)| {
            (order.ends.contains(&node) && order.owner != failed).then_some(*flow)
        };
        // Collected first, because an abort changes the map.
        let hit: Vec<FlowId> = self.under_way.iter().filter_map(hit).collect();
        for flow in hit {
            if let Some(Order { owner, number, .. }) = self.abort(now, flow) {
                out.send(owner, DataMessage::TransferAborted { number });
            }
        }
    }

    /// Reports data that have arrived, and sets the timer for the next event.
    fn settle(&mut self, now: Time, out: &mut Outbox) {
        for completion in self.flows.advance(now) {
            let Some(order) = self.under_way.remove(&completion.flow) else { continue };
            let Order { owner, number, is_checkpoint, .. } = order;
            self.flow_of.remove(&(owner, number));
            let message = match is_checkpoint {
                true => DataMessage::CheckpointTransferred { number },
                false => DataMessage::Transferred { number, at: completion.at },
            };
            out.send(owner, message);
        }
        // A transfer over a link without capacity never arrives.
        match self.flows.next_event().filter(|&next| next < Time::FOREVER) {
            Some(next) => out.set(next, Timer::DataArrive),
            None => out.stop(Timer::DataArrive),
        }
    }
}

impl DataNetwork {
    /// The transfers under way, by the actors that requested them.
    pub(crate) fn glimpse(&self, now: Time) -> Glimpse {
        let fact = |(&flow, order): (&FlowId, &Order)| {
            let moved = self.flows.moved(flow, now)?;
            Some(Fact::about(order.owner, FactKind::Moved, moved as f64))
        };
        Glimpse::of_facts(self.under_way.iter().filter_map(fact).collect())
    }
}

impl Actor for DataNetwork {
    type Message = Message;

    fn on_message(&mut self, now: Time, sender: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Data(DataMessage::Transfer(asked)) => {
                self.start(now, sender, *asked, false, out);
            }
            Message::Data(DataMessage::TransferCheckpoint(asked)) => {
                self.start(now, sender, *asked, true, out);
            }
            Message::Data(DataMessage::AbortTransfer { number }) => {
                if let Some(&flow) = self.flow_of.get(&(sender, number)) {
                    self.abort(now, flow);
                }
            }
            Message::Data(DataMessage::NodeFailed { node }) => {
                self.on_node_failed(now, sender, node, out);
            }
            Message::Data(DataMessage::TrafficRequest) => {
                let (routes, flows) = (self.routes.clone(), self.flows.picture());
                let traffic = Box::new(Traffic { routes, flows });
                out.send(sender, DataMessage::Traffic(traffic));
            }
            // The arrivals are reported below, as after every message.
            Message::Wake(Timer::DataArrive) => {}
            // Arrivals after the end of the run concern no actor.
            Message::Run(RunMessage::RunOver) => return,
            _ => out.refuse(sender),
        }
        self.settle(now, out);
    }
}
