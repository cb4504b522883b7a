//! Media and termination state, and modems of version 1.

use super::records::{atoms, choice, record};
use super::{NonStandardData, PropertyGroup, PropertyParm, StatisticsParameter};
use crate::list::List;
use crate::octets::Str;
use crate::sdp::{Field, Lines, Sdp};
use crate::value::{Sink, Source, Value, Word};
use crate::{Error, Result};

record! {
    /// State of a termination and its streams.
    #[derive(Default)]
    MediaDescriptor<'a> [...] {
        term_state_descr "termStateDescr": Option<Box<TerminationStateDescriptor<'a>>>,
        streams "streams": Option<MediaStreams<'a>>,
    }
}

choice! {
    /// One stream without a number, or several with theirs.
    MediaStreams<'a> [closed] {
        OneStream "oneStream" (StreamParms<'a>),
        MultiStream "multiStream" (List<StreamDescriptor<'a>>),
    }
}

record! {
    /// A stream with its number.
    StreamDescriptor<'a> [closed] {
        stream_id "streamID": u16,
        stream_parms "streamParms": StreamParms<'a>,
    }
}

record! {
    /// What is said of a stream.
    #[derive(Default)]
    StreamParms<'a> [...] {
        local_control_descriptor "localControlDescriptor": Option<LocalControlDescriptor<'a>>,
        local_descriptor "localDescriptor": Option<LocalRemoteDescriptor<'a>>,
        remote_descriptor "remoteDescriptor": Option<LocalRemoteDescriptor<'a>>,
        ; 3:
        statistics_descriptor "statisticsDescriptor": Option<Vec<StatisticsParameter<'a>>>,
    }
}

record! {
    /// Mode and properties of a stream.
    #[derive(Default)]
    LocalControlDescriptor<'a> [...] {
        stream_mode "streamMode": Option<StreamMode>,
        reserve_value "reserveValue": Option<bool>,
        reserve_group "reserveGroup": Option<bool>,
        property_parms "propertyParms": Vec<PropertyParm<'a>>,
    }
}

/// Session descriptions: of what a termination receives (Local) or sends (Remote).
///
/// From text they stay text until they are asked for.
#[derive(Clone, Debug)]
pub enum LocalRemoteDescriptor<'a> {
    /// Lines of SDP; a line `v=` begins a new description.
    Text(Str<'a>),
    /// Properties, as other encodings have them.
    Groups(Vec<PropertyGroup<'a>>),
}

impl LocalRemoteDescriptor<'_> {
    /// The descriptions with typed fields.
    ///
    /// # Errors
    /// A property has not one value, or the value has the end of a line in it. Then it is no line; the place is the number
    /// of the property.
    pub fn sdp(&self) -> Result<Sdp<'_>> {
        match self {
            Self::Text(text) => Ok(Sdp::read(text)),
            Self::Groups(groups) => {
                let mut sdp = Sdp::default();
                for (index, property) in groups.iter().flatten().enumerate() {
                    let is_line = |value: &Str<'_>| memchr::memchr3(b'\r', b'\n', 0, value).is_none();
                    match (&property.value[..], property.extra_info) {
                        ([value], None) if is_line(value) => {
                            sdp.push(Field::read(&property.name, value).into());
                        }
                        _ => {
                            return Err(Error::new(
                                index,
                                "one value for each line of a session description",
                            ));
                        }
                    }
                }
                Ok(sdp)
            }
        }
    }

    /// The descriptions as properties.
    pub fn groups(&self) -> Vec<PropertyGroup<'_>> {
        match self {
            Self::Groups(groups) => groups.clone(),
            Self::Text(text) => {
                let mut groups: Vec<PropertyGroup<'_>> = Vec::new();
                for line in Lines::new(text) {
                    if groups.is_empty()
                        || (line.begins_group() && groups.last().is_some_and(|group| !group.is_empty()))
                    {
                        groups.push(Vec::new());
                    }
                    let parm = PropertyParm {
                        name: line.name.into(),
                        value: List::One(Str::borrowed(line.value)),
                        extra_info: None,
                    };
                    if let Some(group) = groups.last_mut() {
                        group.push(parm);
                    }
                }
                groups
            }
        }
    }
}

/// The lines of the descriptions, as they were read or as the standard has them.
impl TryFrom<&Sdp<'_>> for LocalRemoteDescriptor<'_> {
    type Error = Error;

    fn try_from(sdp: &Sdp<'_>) -> Result<Self> {
        Ok(Self::Text(Str::from(sdp.to_text()?)))
    }
}

impl PartialEq for LocalRemoteDescriptor<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) if a == b => true,
            (Self::Groups(a), Self::Groups(b)) => a == b,
            _ => self.groups() == other.groups(),
        }
    }
}

impl Eq for LocalRemoteDescriptor<'_> {}

record! {
    /// State of a termination.
    #[derive(Default)]
    TerminationStateDescriptor<'a> [...] {
        property_parms "propertyParms": Vec<PropertyParm<'a>>,
        event_buffer_control "eventBufferControl": Option<EventBufferControl>,
        service_state "serviceState": Option<ServiceState>,
    }
}

atoms! {
    /// Where media flow.
    StreamMode [...] {
        SendOnly "sendOnly",
        RecvOnly "recvOnly",
        SendRecv "sendRecv",
        Inactive "inactive",
        LoopBack "loopBack",
    }
}

atoms! {
    /// What happens to events while another is dealt with.
    EventBufferControl [...] {
        Off "off",
        LockStep "lockStep",
    }
}

atoms! {
    /// Whether a termination serves.
    ServiceState [...] {
        Test "test",
        OutOfSvc "outOfSvc",
        InSvc "inSvc",
    }
}

record! {
    /// Modems; only version 1 has them.
    ModemDescriptor<'a> [closed] {
        mtl "mtl": Vec<ModemType>,
        mpl "mpl": Vec<PropertyParm<'a>>,
        non_standard_data "nonStandardData": Option<Box<NonStandardData<'a>>>,
    }
}

atoms! {
    /// Kinds of modems.
    ModemType [...] {
        V18 "v18",
        V22 "v22",
        V22bis "v22bis",
        V32 "v32",
        V32bis "v32bis",
        V34 "v34",
        V90 "v90",
        V91 "v91",
        SynchIsdn "synchISDN",
    }
}

impl<'a> Value<'a> for LocalRemoteDescriptor<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.record(const { &Word::new("LocalRemoteDescriptor") }, 1);
        sink.field("propGrps");
        self.groups().write(sink);
        sink.end_record();
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.record(const { &Word::new("LocalRemoteDescriptor") }, 1)?;
        source.field("propGrps")?;
        let groups = Vec::read(source)?;
        source.end_record()?;
        Ok(Self::Groups(groups))
    }
}
