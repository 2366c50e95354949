package recall

import (
	"strings"
	"sync"
)

// irregular are verbs whose forms no rule leads back to, a line each: the verb, then its other forms. Forms that are words
// of their own (felt, ground, left, saw, bound, read) are left out.
const irregular = `become became
begin began begun
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
come came
deal dealt
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
fight fought
find found
fly flew flown
forget forgot forgotten
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
lose lost
make made
meet met
overwrite overwrote overwritten
override overrode overridden
pay paid
rewrite rewrote rewritten
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see seen
seek sought
sell sold
send sent
shake shook shaken
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sleep slept
speak spoke spoken
spend spent
spin spun
stand stood
steal stole stolen
stick stuck
strike struck
swim swam swum
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
undo undid undone
redo redid redone
wake woke woken
wear wore worn
win won
write wrote written`

// short are abbreviations that people use beside the word, a line each: the word, then its abbreviations.
const short = `accessibility a11y
administrator admin admins
application app apps
authentication auth authn
certificate cert certs
configuration config configs cfg conf
database db dbs
dependency dep deps
development dev
directory dir dirs
documentation docs
environment env envs
internationalization i18n
javascript js
kubernetes k8s
maximum max
message msg msgs
minimum min
package pkg pkgs
parameter param params
performance perf
postgresql postgres
production prod
repository repo repos
temporary tmp
typescript ts`

// wordForms leads a form of a word to the stem of the word.
var wordForms = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(irregular+"\n"+short, "\n") {
		forms := strings.Fields(line)
		to := string(porter([]byte(forms[0])))
		for _, w := range forms[1:] {
			m[w] = to
		}
	}
	return m
})
