//! The personnel records of X.691 Annex A.

use super::{check, hex, plans};

const PERSON: &str = "60818561101a044a6f686e1a01501a05536d697468420133a00a1a084469726563746f72a10a43083139373130393137a21261\
    101a044d6172791a01541a05536d697468a342311f61111a0552616c70681a01541a05536d697468a00a43083139353731313131311f61111a\
    05537573616e1a01421a054a6f6e6573a00a43083139353930373137";

/// X.691 A.1: no constraints; 94 and 84 octets.
pub(super) const PERSON_1: &str = "M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE OF ChildInformation DEFAULT {} }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName VisibleString, initial VisibleString, familyName VisibleString }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER
    Date ::= [APPLICATION 3] IMPLICIT VisibleString
    END";

pub(super) const PERSON_1_ALIGNED: &str = "80044a6f686e015005536d6974680133084469726563746f72083139373130393137044d617279015405536d69746802\
    0552616c7068015405536d69746808313935373131313105537573616e0142054a6f6e6573083139353930373137";

pub(super) const PERSON_1_UNALIGNED: &str = "824adfa3700d005a7b74f4d0026611134f2cb8fa6fe410c5cb762c1cb16e09370f2f20350169edd3d340102d2c3b38\
    6801a80b4f6e9e9a0218b96add8b162c4169f5e787700c20595bf765e610c5cb572c1bb16e";

/// X.691 A.2: subtype constraints; 74 and 61 octets.
pub(super) const PERSON_2: &str = r#"M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE OF ChildInformation DEFAULT {} }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName NameString, initial NameString (SIZE(1)), familyName NameString }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER
    Date ::= [APPLICATION 3] IMPLICIT VisibleString (FROM("0".."9") ^ SIZE(8))
    NameString ::= VisibleString (FROM("a".."z" | "A".."Z" | "-.") ^ SIZE(1..64))
    END"#;

pub(super) const PERSON_2_ALIGNED: &str = "864a6f686e5010536d6974680133084469726563746f72197109170c4d6172795410536d697468021052616c70685410\
    536d6974681957111110537573616e42104a6f6e657319590717";

pub(super) const PERSON_2_UNALIGNED: &str = "865d51d2888a5125f180998444d3cb2e3e9bf90cb8848b867396e8a88a5125f181089b93d71aa2294497c632ae2222\
    22985ce521885d54c170cac838b8";

/// X.691 A.3: extension markers; 80 and 62 octets.
pub(super) const PERSON_3: &str = r#"M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE (SIZE(2, ...)) OF ChildInformation OPTIONAL, ... }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date, ...,
      sex [1] IMPLICIT ENUMERATED {male(1), female(2), unknown(3)} OPTIONAL }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName NameString, initial NameString (SIZE(1)), familyName NameString, ... }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER (0..9999, ...)
    Date ::= [APPLICATION 3] IMPLICIT VisibleString (FROM("0".."9") ^ SIZE(8, ..., 9..20))
    NameString ::= VisibleString (FROM("a".."z" | "A".."Z" | "-.") ^ SIZE(1..64, ...))
    END"#;

pub(super) const PERSON_3_ALIGNED: &str = "40c04a6f686e5008536d697468000033084469726563746f720019710917034d6172795408536d697468010052616c70\
    685408536d69746800195711110200537573616e42084a6f6e65730019590717";

pub(super) const PERSON_3_UNALIGNED: &str = "40cbaa3a5108a5125f180330889a7965c7d37f20cb8848b819ce5ba2a114a24be30113727ae3542294497c61957111\
    1022985ce521842eaa60b832b20e2e";

#[test]
fn annex_a() {
    for (text, aligned, unaligned, octets) in [
        (PERSON_1, PERSON_1_ALIGNED, PERSON_1_UNALIGNED, (94, 84)),
        (PERSON_2, PERSON_2_ALIGNED, PERSON_2_UNALIGNED, (74, 61)),
        (PERSON_3, PERSON_3_ALIGNED, PERSON_3_UNALIGNED, (80, 62)),
    ] {
        assert_eq!((hex(aligned).len(), hex(unaligned).len()), octets);
        check(&plans(text), "PersonnelRecord", PERSON, aligned, unaligned);
    }
}
