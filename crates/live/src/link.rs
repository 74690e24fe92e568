//! A connection between two nodes: greetings, then frames in both directions.

use std::io;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::codec::Framed;

use crate::hello::{ALIVE, Hello, HelloError, control};
use crate::keys::Refusal;
use crate::parts::PartId;
use crate::wire::{Broken, Complaint, Frame, FrameCodec};

/// Most frames that are handed over at once.
pub const BATCH: usize = 256;

/// Time within which the peer must introduce itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Time without a frame after which a sign of life is sent.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// Time without a frame of the peer after which a connection counts as broken.
const SILENCE: Duration = Duration::from_secs(12);

/// Reason why a connection ended, or did not begin.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The peer does not speak the protocol.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The peer is no node of this run.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// The peer has no certificate of a node of this run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The peer does not answer.
    #[error("the peer has not introduced itself within {} s", PATIENCE.as_secs())]
    Silent,
    /// Nothing arrives from the peer, not even a sign of life.
    #[error("nothing has arrived from the peer for {} s", SILENCE.as_secs())]
    Dead,
    /// The peer has closed the connection.
    #[error("the peer has closed the connection")]
    Closed,
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> LinkError {
        LinkError::Broken(Broken::Io(error))
    }
}

impl LinkError {
    /// True if the peer has ended the connection, or its process has ended.
    pub(crate) fn is_end_of_peer(&self) -> bool {
        let ends = [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset];
        matches!(self, LinkError::Closed)
            || matches!(self, LinkError::Broken(Broken::Io(error)) if ends.contains(&error.kind()))
    }

    /// True if no process takes connections at the address of the peer.
    pub(crate) fn is_refusal_of_system(&self) -> bool {
        matches!(self, LinkError::Broken(Broken::Io(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
    }
}

/// A connection whose nodes know each other.
pub struct Link<T> {
    framed: Framed<T, FrameCodec>,
    /// The introduction of the peer.
    pub peer: Hello,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Link<T> {
    /// Introduces both nodes to each other. `peer` is the part that the peer's certificate names.
    ///
    /// # Errors
    /// If the peer is no node of this run, or does not answer.
    pub async fn greet(stream: T, own: &Hello, peer: PartId) -> Result<Link<T>, LinkError> {
        let mut framed = Framed::new(stream, FrameCodec::default());
        framed.send(own.frame()).await?;
        let first = timeout(PATIENCE, framed.next()).await;
        let first = first.map_err(|_| LinkError::Silent)?.ok_or(LinkError::Closed)?;
        let hello = match first {
            Ok(frame) => Hello::of(&frame)?,
            Err(broken) => return Err(farewell(&mut framed, broken).await),
        };
        own.check(&hello, peer)?;
        Ok(Link { framed, peer: hello })
    }

    /// Sends an introduction again, with a newer time.
    ///
    /// # Errors
    /// If the connection breaks.
    pub async fn tell(&mut self, own: &Hello) -> Result<(), LinkError> {
        Ok(self.framed.send(own.frame()).await?)
    }

    /// Waits for the next introduction of the peer.
    ///
    /// # Errors
    /// If the connection breaks, or the peer sends something else.
    pub async fn hear(&mut self) -> Result<Hello, LinkError> {
        let next = timeout(PATIENCE, self.framed.next()).await;
        let next = next.map_err(|_| LinkError::Silent)?.ok_or(LinkError::Closed)?;
        Ok(Hello::of(&next?)?)
    }

    /// Exchanges frames until either side ends. Frames that arrive are given to `take`, which returns false to end.
    ///
    /// Signs of life cross a connection without frames. Without them, nothing would tell that a device on the way has
    /// forgotten the connection, or lost bytes at the end of all that were sent.
    ///
    /// # Errors
    /// If the connection breaks.
    pub async fn exchange(
        self,
        mut leave: mpsc::UnboundedReceiver<Vec<Frame>>,
        take: impl AsyncFn(Vec<Frame>) -> bool,
    ) -> Result<(), LinkError> {
        let (mut sink, stream) = self.framed.split();
        let mut stream = stream.ready_chunks(BATCH);
        let writing = async {
            loop {
                let frames = match timeout(SIGN_OF_LIFE, leave.recv()).await {
                    Ok(Some(frames)) => frames,
                    // The node wants the connection no more.
                    Ok(None) => return Ok::<(), LinkError>(()),
                    Err(_) => vec![control(ALIVE, Vec::new())],
                };
                for frame in frames {
                    sink.feed(frame).await?;
                }
                sink.flush().await?;
            }
        };
        let reading = async {
            loop {
                let arrived = timeout(SILENCE, stream.next()).await;
                let arrived = arrived.map_err(|_| LinkError::Dead)?.ok_or(LinkError::Closed)?;
                let mut frames = Vec::with_capacity(arrived.len());
                let mut broken = None;
                for frame in arrived {
                    match frame {
                        Ok(frame) if frame.envelope.kind == ALIVE => {}
                        Ok(frame) => frames.push(frame),
                        Err(error) => broken = broken.or(Some(error)),
                    }
                }
                if !frames.is_empty() && !take(frames).await {
                    return Ok(());
                }
                if let Some(broken) = broken {
                    return Err(broken.into());
                }
            }
        };
        tokio::select! {
            ended = writing => ended,
            ended = reading => ended,
        }
    }
}

/// Tells the peer why the connection ends.
async fn farewell<T: AsyncRead + AsyncWrite + Unpin>(
    framed: &mut Framed<T, FrameCodec>,
    broken: Broken,
) -> LinkError {
    if let Some(complaint) = Complaint::last(&broken) {
        let frame = control(Complaint::KIND, complaint.encode());
        // The reason is told if possible.
        let _ = framed.send(frame).await;
    }
    broken.into()
}

#[cfg(test)]
mod tests {
    use haggle_model::Time;
    use tokio::io::{DuplexStream, duplex};
    use tokio::join;
    use tokio::time::Instant;

    use super::*;
    use crate::session::Number;

    async fn link(stream: DuplexStream, part: PartId, peer: PartId) -> Link<DuplexStream> {
        let own = Hello {
            run: [7; 32],
            scale: 1.0,
            now: Some(Time::ZERO),
            part,
            incarnation: 1,
            taken: Number::default(),
            acknowledged: Number::default(),
        };
        Link::greet(stream, &own, peer).await.expect("they are of one run")
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_signs_of_life_is_broken() {
        let (north, south) = duplex(1 << 16);
        let (north, south) = join!(link(north, 0, 1), link(south, 1, 0));
        let ((_open, of_north), (_too, of_south)) =
            (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let begun = Instant::now();
        let mut south =
            Box::pin(south.exchange(of_south, async |_| panic!("a sign of life is no message")));
        let north = north.exchange(of_north, async |_| panic!("a sign of life is no message"));
        // The south then stops, and its side of the connection stays open.
        let (ended, stopped) = join!(north, timeout(Duration::from_secs(60), &mut south));
        assert!(stopped.is_err(), "{stopped:?}");
        assert!(matches!(ended, Err(LinkError::Dead)), "{ended:?}");
        let lasted = begun.elapsed().as_secs();
        assert!((70..=72).contains(&lasted), "{lasted} s");
    }
}
