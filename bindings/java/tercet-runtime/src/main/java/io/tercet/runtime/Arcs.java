package io.tercet.runtime;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** Subidentifiers of object identifiers (X.690 8.19, 8.20). */
final class Arcs {
    /** Bytes that a subidentifier takes at most: larger ones would make printing slow. */
    private static final int MOST_OCTETS = 64;

    private static final BigInteger EIGHTY = BigInteger.valueOf(80);

    private Arcs() {}

    /** Checks contents that start at an absolute offset. */
    static void check(byte[] octets, int start, int length, long offset) throws Asn1Exception {
        if (length == 0) {
            throw Asn1Exception.at(ErrorKind.OID_EMPTY, offset);
        }
        int size = 0;
        for (int i = 0; i < length; i++) {
            byte octet = octets[start + i];
            if (size == 0 && octet == (byte) 0x80) {
                throw Asn1Exception.at(ErrorKind.OID_PADDED, offset + i);
            }
            if (++size > MOST_OCTETS) {
                throw Asn1Exception.at(ErrorKind.OID_ARC_LIMIT, offset + i);
            }
            if (octet >= 0) {
                size = 0;
            }
        }
        if (size > 0) {
            throw Asn1Exception.at(ErrorKind.OID_UNTERMINATED, offset + length);
        }
    }

    static List<BigInteger> arcs(Octets contents, boolean rooted) {
        List<BigInteger> arcs = new ArrayList<>();
        BigInteger arc = BigInteger.ZERO;
        for (int i = 0; i < contents.length(); i++) {
            int octet = contents.get(i);
            arc = arc.shiftLeft(7).or(BigInteger.valueOf(octet & 0x7F));
            if (octet >= 0) {
                if (rooted && arcs.isEmpty()) {
                    int root = arc.compareTo(EIGHTY) >= 0 ? 2 : arc.intValue() / 40;
                    arcs.add(BigInteger.valueOf(root));
                    arc = arc.subtract(BigInteger.valueOf(root * 40L));
                }
                arcs.add(arc);
                arc = BigInteger.ZERO;
            }
        }
        return arcs;
    }

    static String text(Octets contents, boolean rooted) {
        StringBuilder out = new StringBuilder();
        for (BigInteger arc : arcs(contents, rooted)) {
            out.append(out.length() == 0 ? "" : ".").append(arc);
        }
        return out.toString();
    }

    static Octets parse(String text, boolean rooted) {
        try {
            return read(text, rooted);
        } catch (Asn1Exception fault) {
            throw new IllegalArgumentException(fault.kind().message() + ": " + text);
        }
    }

    /** The contents for arcs in decimal with dots between. */
    static Octets read(String text, boolean rooted) throws Asn1Exception {
        List<BigInteger> arcs = new ArrayList<>();
        for (String part : text.split("\\.", -1)) {
            boolean digits = !part.isEmpty() && part.chars().allMatch(c -> c >= '0' && c <= '9');
            if (!digits || part.length() > 1 && part.charAt(0) == '0') {
                throw Asn1Exception.at(ErrorKind.OID_SYNTAX, 0);
            }
            if (part.length() > 140) {
                throw Asn1Exception.at(ErrorKind.OID_ARC_LIMIT, 0);
            }
            arcs.add(new BigInteger(part));
        }
        if (rooted) {
            boolean valid = arcs.size() > 1
                    && arcs.get(0).bitLength() < 8
                    && arcs.get(0).intValue() <= 2
                    && (arcs.get(0).intValue() == 2 || arcs.get(1).bitLength() < 8 && arcs.get(1).intValue() < 40);
            if (!valid) {
                throw Asn1Exception.at(ErrorKind.OID_ROOT, 0);
            }
            BigInteger root = arcs.remove(0);
            arcs.set(0, arcs.get(0).add(BigInteger.valueOf(root.intValue() * 40L)));
        }
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
        for (BigInteger arc : arcs) {
            int septets = Math.max(1, (arc.bitLength() + 6) / 7);
            if (septets > MOST_OCTETS) {
                throw Asn1Exception.at(ErrorKind.OID_ARC_LIMIT, 0);
            }
            for (int i = septets - 1; i >= 0; i--) {
                out.write(arc.shiftRight(7 * i).intValue() & 0x7F | (i > 0 ? 0x80 : 0));
            }
        }
        byte[] octets = out.toByteArray();
        return Octets.known(octets, 0, octets.length);
    }
}
