#!/usr/bin/perl
# Net::LDAP: HOST PORT discard|ldif. A callback takes each entry and throws it away, as its documentation says.
use strict;
use warnings;
use Net::LDAP;
use Net::LDAP::LDIF;

my ($host, $port, $work) = @ARGV;
my $ldap = Net::LDAP->new($host, port => $port) or die "$@\n";
$ldap->bind;
my $ldif = $work eq 'ldif' ? Net::LDAP::LDIF->new(\*STDOUT, 'w', change => 0, onerror => 'die') : undef;
my $count = 0;
my $result = $ldap->search(
    base => 'o=test',
    filter => '(objectClass=*)',
    callback => sub {
        my ($search, $entry) = @_;
        return unless $entry;
        $count++;
        $ldif->write_entry($entry) if $ldif;
        $search->pop_entry;
    },
);
die $result->error . "\n" if $result->code;
$ldif ? $ldif->done : print "$count\n";
