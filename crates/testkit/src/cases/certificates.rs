//! Wrong certificates of every kind.

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    KeyUsagePurpose, NameConstraints, date_time_ymd,
};

use super::{
    authorities::{Authorities, Authority, Chain, leaf_params, named, names, new_key, private, serving},
    case::{Case, GOOD},
};
use crate::steps::Step;

pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, chain: fn(&Authorities) -> Chain| {
        let config = move |authorities: &Authorities| serving(chain(authorities), rustls::ALL_VERSIONS);
        Case::over_tls(name, about, config, vec![Step::Read, Step::Send(GOOD.into()), Step::CloseNotify])
    };
    let leaf = |name, about, change: fn(&mut CertificateParams)| {
        let config = move |authorities: &Authorities| serving(authorities.trusted.leaf(change), rustls::ALL_VERSIONS);
        Case::over_tls(name, about, config, vec![Step::Read, Step::Send(GOOD.into()), Step::CloseNotify])
    };
    vec![
        leaf("certificate_expired", "has expired", |params| {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }),
        leaf("certificate_not_yet_valid", "is not valid yet", |params| {
            params.not_before = date_time_ymd(2090, 1, 1);
            params.not_after = date_time_ymd(2091, 1, 1);
        }),
        leaf("certificate_other_name", "is for another name", |params| *params = names(&["other.test"])),
        leaf("certificate_other_address", "is for another address", |params| *params = names(&["10.1.2.3"])),
        leaf("certificate_name_only", "names localhost, and is asked by address", |params| {
            *params = names(&["localhost"])
        }),
        leaf("certificate_wildcard", "is for *.test", |params| *params = names(&["*.test"])),
        leaf("certificate_common_name", "has its name in the common name only", |params| {
            *params = names(&[]);
            params.distinguished_name = named("127.0.0.1");
        }),
        leaf("certificate_for_clients", "is for clients", |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        }),
        leaf("certificate_for_code", "is for signing code", |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        }),
        leaf("certificate_is_authority", "is an authority's, used by a server", |params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        })
        .differs(
            0,
            1310,
            "x509: unknown authority",
            "webpki accepts no authority's certificate as a server's",
        ),
        leaf("certificate_critical_extension", "has a critical extension nobody knows", |params| {
            let mut extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99_999, 1], vec![5, 0]);
            extension.set_criticality(true);
            params.custom_extensions = vec![extension];
        }),
        leaf("certificate_huge", "has 5,000 names", |params| {
            let mut all: Vec<String> = (0..5000).map(|number| format!("host-{number}.test")).collect();
            all.push("127.0.0.1".to_owned());
            *params = CertificateParams::new(all).expect("valid names");
        })
        .differs(
            0,
            1000,
            "tls: handshake message exceeds maximum of 65535 bytes",
            "rustls takes handshake messages of up to 64 KiB, Go 256 KiB",
        ),
        case("certificate_unknown_authority", "is signed by an authority nobody knows", |authorities| {
            authorities.unknown.leaf(|_| ())
        }),
        case("certificate_self_signed", "signs itself", |_| {
            let key = new_key();
            let certificate = leaf_params(|_| ()).self_signed(&key).expect("self-signing works");
            (vec![certificate.der().clone()], private(&key))
        }),
        case("certificate_self_signed_authority", "signs itself as an authority", |_| {
            let key = new_key();
            let params = leaf_params(|params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained));
            let certificate = params.self_signed(&key).expect("self-signing works");
            (vec![certificate.der().clone()], private(&key))
        }),
        case("certificate_bad_signature", "has a broken signature", |authorities| {
            let (mut chain, key) = authorities.trusted.leaf(|_| ());
            let mut bytes = chain[0].to_vec();
            let at = bytes.len() - 8;
            bytes[at] ^= 1;
            chain[0] = bytes.into();
            (chain, key)
        }),
        case("certificate_same_name_authority", "is signed by a namesake of the authority", |_| {
            Authority::root("Onrush Test Root", |_| ()).leaf(|_| ())
        }),
        case("certificate_other_key", "belongs to another key", |authorities| {
            let (chain, _) = authorities.trusted.leaf(|_| ());
            (chain, private(&new_key()))
        })
        .differs(0, 1310, "x509: unknown authority", "rustls has one error for both signatures"),
        case("certificate_garbage", "is no certificate", |authorities| {
            (vec![vec![0x30, 3, 1, 2, 3].into()], authorities.trusted.leaf(|_| ()).1)
        })
        .differs(
            0,
            1000,
            "tls: failed to parse certificate from server: x509: malformed certificate",
            "webpki does not say which part",
        ),
        case("certificate_none", "shows no certificate", |authorities| {
            (Vec::new(), authorities.trusted.leaf(|_| ()).1)
        }),
        case("certificate_without_intermediate", "leaves out what signed it", |authorities| {
            authorities.trusted.below("Intermediate", |_| ()).leaf(|_| ())
        }),
        case("certificate_with_intermediate", "has a good chain", |authorities| {
            let middle = authorities.trusted.below("Intermediate", |_| ());
            let (mut chain, key) = middle.leaf(|_| ());
            chain.push(middle.certificate.der().clone());
            (chain, key)
        }),
        case("certificate_signed_by_leaf", "is signed by one that is no authority", |authorities| {
            let middle = authorities.trusted.below("Not an authority", |params| params.is_ca = IsCa::NoCa);
            let (mut chain, key) = middle.leaf(|_| ());
            chain.push(middle.certificate.der().clone());
            (chain, key)
        }),
        case("certificate_path_too_long", "has one authority more than is allowed", |authorities| {
            let first = authorities.trusted.below("First", |params| {
                params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
            });
            let second = first.below("Second", |_| ());
            let (mut chain, key) = second.leaf(|_| ());
            chain.extend([second.certificate.der().clone(), first.certificate.der().clone()]);
            (chain, key)
        }),
        case("certificate_chain_of_thirty", "has thirty authorities above it", |authorities| {
            let mut above = vec![authorities.trusted.below("Authority 0", |_| ())];
            for number in 1..30 {
                let next = above[number - 1].below(&format!("Authority {number}"), |_| ());
                above.push(next);
            }
            let (mut chain, key) = above[29].leaf(|_| ());
            chain.extend(above.iter().rev().map(|authority| authority.certificate.der().clone()));
            (chain, key)
        })
        .differs(0, 1000, "x509: too many intermediates for verification", "webpki follows six authorities"),
        case("certificate_intermediate_expired", "has an authority that has expired", |authorities| {
            let middle = authorities.trusted.below("Expired", |params| {
                params.not_before = date_time_ymd(2019, 1, 1);
                params.not_after = date_time_ymd(2020, 1, 1);
            });
            let (mut chain, key) = middle.leaf(|_| ());
            chain.push(middle.certificate.der().clone());
            (chain, key)
        }),
        case("certificate_name_constraints", "is outside of what its authority may sign", |authorities| {
            let middle = authorities.trusted.below("Constrained", |params| {
                let permitted_subtrees = vec![GeneralSubtree::DnsName("allowed.test".to_owned())];
                params.name_constraints = Some(NameConstraints { permitted_subtrees, excluded_subtrees: Vec::new() });
            });
            let (mut chain, key) = middle.leaf(|_| ());
            chain.push(middle.certificate.der().clone());
            (chain, key)
        })
        .differs(
            0,
            1000,
            "x509: a root or intermediate certificate is not authorized to sign for this name",
            "webpki does not say which name",
        ),
        case("certificate_chain_unordered", "has its chain in a wrong order, with strangers", |authorities| {
            let first = authorities.trusted.below("First", |_| ());
            let second = first.below("Second", |_| ());
            let (mut chain, key) = second.leaf(|_| ());
            let stranger = authorities.unknown.certificate.der().clone();
            chain.extend([first.certificate.der().clone(), stranger, second.certificate.der().clone()]);
            (chain, key)
        }),
    ]
}
