#!/usr/bin/perl
# A minimal anonymizer by docs/contracts.md, in Perl without modules: it raises pitch and formants
# by a factor that each utterance's seed determines. It shows the contract; it protects nobody.
use strict;
use warnings;

use constant { IN => '/in', OUT => '/out', RATE => 16000, FRAME => 480, HOP => 160 };
# Factors of the pitch: from the first, as far up as the second.
use constant { LOWEST => 1.15, SPREAD => 0.25 };
use constant { PEAK => 20000, PI => 3.14159265358979 };

$| = 1;

sub say_event {
    my ($event, %fields) = @_;
    my @pairs = ("\"event\": \"$event\"");
    for my $name (sort keys %fields) {
        my $value = $fields{$name};
        $value =~ s/([\\"])/\\$1/g;
        $value =~ s/[\x00-\x1f\x7f-\xff]/?/g;
        push @pairs, $value =~ /^\d+$/ ? "\"$name\": $value" : "\"$name\": \"$value\"";
    }
    print '{', join(', ', @pairs), "}\n";
}

# Clause C7: one error event, then an exit status other than 0.
sub fail {
    say_event('error', message => join(' ', @_));
    exit 1;
}

sub read_file {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or fail("$path: $!");
    local $/;
    return scalar <$file>;
}

# Clauses C8 and A1: the columns are found by their names, whatever their order.
sub read_manifest {
    my ($parameters) = -e IN . '/params.json' ? read_file(IN . '/params.json') : '{}';
    fail('params.json: this system has no parameters') unless $parameters =~ /^\s*\{\s*\}\s*$/;
    my ($header, @lines) = split /\n/, read_file(IN . '/manifest.tsv');
    my @columns = split /\t/, $header, -1;
    my @rows;
    for my $line (@lines) {
        my %row;
        @row{@columns} = split /\t/, $line, -1;
        push @rows, \%row;
    }
    return @rows;
}

# Clause A2: mono 16 kHz 16-bit PCM under a header of 44 bytes.
sub read_wav {
    my ($path) = @_;
    my $data = read_file($path);
    fail("$path: not a WAV file") unless length($data) > 44 && $data =~ /^RIFF.{4}WAVEfmt /s;
    my $size = unpack('V', substr($data, 40, 4));
    fail("$path: cut short") unless length($data) == 44 + $size;
    return unpack('s<*', substr($data, 44));
}

sub write_wav {
    my ($path, @samples) = @_;
    my $data = pack('s<*', @samples);
    my $header = pack('a4Va4a4VvvVVvva4V', 'RIFF', 36 + length($data), 'WAVE', 'fmt ', 16, 1, 1,
        RATE, RATE * 2, 2, 16, 'data', length($data));
    open(my $file, '>:raw', $path) or fail("$path: $!");
    print {$file} $header, $data or fail("$path: $!");
    close($file) or fail("$path: $!");
}

# Overlapping frames, each read faster than it was spoken: the duration stays, the pitch rises.
sub raised {
    my ($factor, @samples) = @_;
    my @window = map { 0.5 - 0.5 * cos(2 * PI * $_ / FRAME) } 0 .. FRAME - 1;
    my @result = (0) x @samples;
    for (my $start = 0; $start < @samples; $start += HOP) {
        for my $place (0 .. FRAME - 1) {
            my ($from, $to) = ($start + int($place * $factor), $start + $place);
            last if $from >= @samples;
            $result[$to] += $window[$place] * $samples[$from];
        }
    }
    my $peak = 1;
    for (@result) { $peak = abs($_) if abs($_) > $peak }
    return map { int($_ / $peak * PEAK) } @result;
}

fail("unknown command '@ARGV'") unless "@ARGV" eq 'anonymize';
my @rows = read_manifest();
mkdir OUT . '/audio' or fail(OUT . "/audio: $!");
my $done = 0;
for my $row (@rows) {
    my @samples = read_wav(IN . "/$row->{path}");
    # Clauses A8 to A11: nothing is drawn but from the utterance's own seed.
    srand(($row->{seed} ^ ($row->{seed} >> 32)) & 0xffffffff);
    my $factor = LOWEST + SPREAD * rand();
    write_wav(OUT . "/audio/$row->{utterance}.wav", raised($factor, @samples));
    say_event('progress', task => 'anonymize', done => ++$done, total => scalar @rows);
}
say_event('done');
