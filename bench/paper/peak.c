/* SPDX-License-Identifier: MIT
 *
 * peak COMMAND... - the most memory that a program had at once, in KiB: one line on stderr when it has
 * ended; with its status. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used;
	int status;

	if (argc < 2) {
		fputs("usage: peak COMMAND...\n", stderr);
		return 2;
	}
	pid_t child = fork();

	if (child == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child) {
		perror("peak");
		return 1;
	}
	fprintf(stderr, "%ld\n", used.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
