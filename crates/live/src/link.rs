//! A connection between two nodes: greetings, then frames in both directions.

use std::io;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::codec::Framed;

use crate::hello::{Hello, HelloError};
use crate::keys::Refusal;
use crate::parts::PartId;
use crate::wire::{Broken, Complaint, Frame, FrameCodec};

/// Most frames that are handed over at once.
pub const BATCH: usize = 256;

/// Time within which the peer must introduce itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

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
    /// The peer has closed the connection.
    #[error("the peer has closed the connection")]
    Closed,
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> LinkError {
        LinkError::Broken(Broken::Io(error))
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
        let first = tokio::time::timeout(PATIENCE, framed.next()).await;
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
        let next = tokio::time::timeout(PATIENCE, self.framed.next()).await;
        let next = next.map_err(|_| LinkError::Silent)?.ok_or(LinkError::Closed)?;
        Ok(Hello::of(&next?)?)
    }

    /// Exchanges frames until either side ends. Frames that arrive are given to `take`, which returns false to end.
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
            while let Some(frames) = leave.recv().await {
                for frame in frames {
                    sink.feed(frame).await?;
                }
                sink.flush().await?;
            }
            // The node wants the connection no more.
            Ok::<(), LinkError>(())
        };
        let reading = async {
            while let Some(arrived) = stream.next().await {
                let mut frames = Vec::with_capacity(arrived.len());
                let mut broken = None;
                for frame in arrived {
                    match frame {
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
            Err(LinkError::Closed)
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
        let frame = crate::hello::control(Complaint::KIND, complaint.encode());
        // The reason is told if possible.
        let _ = framed.send(frame).await;
    }
    broken.into()
}
