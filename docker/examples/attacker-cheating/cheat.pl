#!/usr/bin/perl
# An attacker that breaks the pair rule on purpose (docs/contracts.md, clause S7): the one beside it,
# whose scores are then normalised by mean and deviation over all pairs of the run. So each score is
# made from all utterances, and `harness rerun` and `harness conformance` are to notice.
use strict;
use warnings;

use constant SCORES => '/out/scores.tsv';

system('perl', '/attack.pl', @ARGV) == 0 or exit 1;
exit 0 unless "@ARGV" eq 'score';

open(my $read, '<', SCORES) or die SCORES . ": $!";
my ($header, @rows) = map { chomp; [split /\t/] } <$read>;
my ($mean, $square) = (0, 0);
$mean += $_->[2] / @rows for @rows;
$square += ($_->[2] - $mean) ** 2 / @rows for @rows;
# One pair alone does not deviate.
my $deviation = sqrt($square) || 1;

open(my $write, '>', SCORES) or die SCORES . ": $!";
print {$write} join("\t", @$header), "\n";
printf {$write} "%s\t%s\t%.9g\n", $_->[0], $_->[1], ($_->[2] - $mean) / $deviation for @rows;
close($write) or die SCORES . ": $!";
