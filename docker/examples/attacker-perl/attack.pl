#!/usr/bin/perl
# A minimal attacker by docs/contracts.md, in Perl without modules. An utterance becomes a vector:
# mean and deviation of the log energies of a few frequencies. Training learns how much each number
# of it varies within a speaker; a score is a distance in these units. It shows the contract; it
# recognises few people.
use strict;
use warnings;

use constant { IN => '/in', OUT => '/out', RATE => 16000, PI => 3.14159265358979 };
# Frames of 25 ms, one in 50 ms; only those louder than this share of the loudest are speech.
use constant { FRAME => 400, HOP => 800, QUIET => 0.001 };
# Hz, evenly spaced in pitch, and the numbers in a vector: two for each.
use constant { BANDS => 10, LOWEST => 200, HIGHEST => 3800, SIZE => 20 };
# Of a deviation, so that nothing is divided by zero.
use constant SMALLEST => 1e-3;

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
    my $data = <$file>;
    return defined $data ? $data : '';
}

sub write_file {
    my ($path, @lines) = @_;
    open(my $file, '>:raw', $path) or fail("$path: $!");
    print {$file} map { "$_\n" } @lines or fail("$path: $!");
    close($file) or fail("$path: $!");
}

# Clauses T1, S2 and S3: the columns are found by their names, whatever their order.
sub read_table {
    my ($path) = @_;
    my ($header, @lines) = split /\n/, read_file($path);
    fail("$path: has no row") unless @lines;
    my @columns = split /\t/, $header, -1;
    my @rows;
    for my $line (@lines) {
        my @fields = split /\t/, $line, -1;
        fail("$path: a row of another length") unless @fields == @columns;
        my %row;
        @row{@columns} = @fields;
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

# Energy at a frequency, by Goertzel's recursion; turn: twice the cosine of its angle a sample.
sub energy {
    my ($turn, $frame) = @_;
    my ($last, $older) = (0, 0);
    for my $sample (@$frame) {
        my $new = $sample + $turn * $last - $older;
        $older = $last;
        $last = $new;
    }
    return $last * $last + $older * $older - $turn * $last * $older;
}

# Mean and deviation of some numbers.
sub moments {
    my ($sum, $squares, $count) = (0, 0, scalar @_);
    $sum += $_ for @_;
    my $mean = $sum / $count;
    $squares += ($_ - $mean) ** 2 for @_;
    return ($mean, sqrt($squares / $count));
}

# The vector of an utterance: it hears nothing but that utterance's samples.
sub vector {
    my @samples = @_;
    my (@frames, $loudest);
    for (my $start = 0; $start == 0 || $start + FRAME <= @samples; $start += HOP) {
        my $end = $start + FRAME <= @samples ? $start + FRAME - 1 : $#samples;
        my @frame = @samples[$start .. $end];
        my $power = 1;
        $power += $_ * $_ for @frame;
        $loudest = $power if !defined $loudest || $power > $loudest;
        push @frames, [$power, \@frame];
    }
    my @spoken = map { $_->[1] } grep { $_->[0] >= QUIET * $loudest } @frames;
    my (@means, @deviations);
    for my $band (0 .. BANDS - 1) {
        my $frequency = LOWEST * (HIGHEST / LOWEST) ** ($band / (BANDS - 1));
        my $turn = 2 * cos(2 * PI * $frequency / RATE);
        my ($mean, $deviation) = moments(map { log(1 + abs(energy($turn, $_))) } @spoken);
        push @means, $mean;
        push @deviations, $deviation;
    }
    # How loud it is says nothing of who speaks.
    my ($level) = moments(@means);
    return [(map { $_ - $level } @means), @deviations];
}

# The vectors of a folder's utterances, with the rows of its manifest.
sub read_speech {
    my ($folder, $task) = @_;
    my @rows = read_table("$folder/manifest.tsv");
    my $done = 0;
    for my $row (@rows) {
        $row->{vector} = vector(read_wav("$folder/$row->{path}"));
        say_event('progress', task => $task, done => ++$done, total => scalar @rows);
    }
    return @rows;
}

sub mean_vector {
    my @vectors = @_;
    return [map { my $place = $_; (moments(map { $_->[$place] } @vectors))[0] } 0 .. SIZE - 1];
}

# Rows with their vectors, by speaker.
sub by_speaker {
    my %spoken;
    push @{$spoken{$_->{speaker}}}, $_->{vector} for @_;
    return %spoken;
}

sub train {
    my %spoken = by_speaker(read_speech(IN . '/train', 'train'));
    my @apart;
    # Clause T3: in a fixed order, since that of a hash is another in each run.
    for my $speaker (sort keys %spoken) {
        my $mean = mean_vector(@{$spoken{$speaker}});
        for my $vector (@{$spoken{$speaker}}) {
            push @apart, [map { ($vector->[$_] - $mean->[$_]) ** 2 } 0 .. SIZE - 1];
        }
    }
    mkdir OUT . '/model' or fail(OUT . "/model: $!");
    my @model = map { sqrt($_) + SMALLEST } @{mean_vector(@apart)};
    write_file(OUT . '/model/deviations', map { sprintf('%.17g', $_) } @model);
}

sub read_model {
    my $path = IN . '/model/deviations';
    my @model = split /\n/, read_file($path);
    fail("$path: not a model") unless @model == SIZE && !grep { !/^\d[\d.e-]*$/ } @model;
    return @model;
}

sub score {
    my @model = read_model();
    my %enrolled = by_speaker(read_speech(IN . '/enrolments', 'enrol'));
    my %mean = map { $_ => mean_vector(@{$enrolled{$_}}) } keys %enrolled;
    my %tried = map { $_->{utterance} => $_->{vector} } read_speech(IN . '/trials', 'try');
    my @lines = ("enrolment\ttrial\tscore");
    for my $pair (read_table(IN . '/pairs.tsv')) {
        my ($speaker, $trial) = @{$pair}{qw(enrolment trial)};
        my ($mean, $vector) = ($mean{$speaker}, $tried{$trial});
        fail("pairs.tsv: no speech of $speaker or $trial") unless $mean && $vector;
        # Clause S7: of all that is in /in, only this speaker's and this trial's speech.
        my $sum = 0;
        $sum += (($mean->[$_] - $vector->[$_]) / $model[$_]) ** 2 for 0 .. SIZE - 1;
        my $score = -sqrt($sum);
        push @lines, sprintf("%s\t%s\t%.9g", $speaker, $trial, $score);
    }
    write_file(OUT . '/scores.tsv', @lines);
}

my $verb = "@ARGV";
# Clause C8: this system has no parameters.
my $parameters = -e IN . '/params.json' ? read_file(IN . '/params.json') : '{}';
fail('params.json: this system has no parameters') unless $parameters =~ /^\s*\{\s*\}\s*$/;
if ($verb eq 'train') { train() }
elsif ($verb eq 'score') { score() }
else { fail("unknown command '$verb'") }
say_event('done');
