#!/bin/bash
# SPDX-License-Identifier: MIT
#
# While a library is loaded the loader holds its lock until the library's constructors are done: threads that these wait for, and
# whoever is to be cancelled as it loads one, come out of that as without us.
fixtures=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
for name in library other; do
	"$B/bin/dprof-cc" -O1 -fopenmp -fPIC -shared testsuite/fixtures/runtime/loading-library.c -o "$dir/$name.so" ||
		fail "cannot compile $name.so"
done
"$B/bin/dprof-cc" -O1 -rdynamic -pthread testsuite/fixtures/runtime/loading.c -o "$dir/loading" || fail "cannot compile loading.c"
cd "$dir" || exit 1

says() { # LOADING text
	local said
	said=$(LOADING=$1 timeout 60 ./loading ./library.so ./other.so)
	[ "$said" = "$2" ] || fail "$1: expected '$2', found '$said'"
	"$analyze" check dprof-loading.* >check.txt || fail "$1: $(cat check.txt)"
	rm -rf dprof-loading.*
}

says thread 'loaded 1'
says team 'loaded 1'
says cancel 'loaded 1, cancelled 1, other 1'

# What is loaded is looked at with the loader's lock: nothing is asked there that may wait for the loader, such as malloc.
"$B/bin/dprof-cc" -O1 -fno-builtin -pthread -Wall -Wextra -Werror -o looking-malloc "$fixtures/looking-malloc.c" ||
	fail "looking-malloc.c does not compile"
for i in 1 2 3 4 5 6; do
	echo "int f$i(int x) { _Pragma(\"dprof region(f)\") x++; return x; }" >lib$i.c
	"$B/bin/dprof-cc" -O1 -shared -fPIC -o ./lib$i.so lib$i.c || fail "lib$i.c does not compile"
done
said=$(DPROF_QUIET=1 timeout -s KILL 60 ./looking-malloc ./lib?.so)
[ "$said" = loaded ] || fail "a malloc that looks at what is loaded: expected loaded, found '$said'"
exit $failed
