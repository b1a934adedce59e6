/* SPDX-License-Identifier: MIT
 *
 * names.c - what another program on this machine or another one is asked for: addresses of hosts, users and groups
 * (by way of a daemon), the log; and what a command's end is waited for.
 *
 *   ENTER getaddrinfo peer=UNKNOWN ... EXIT
 *
 * Where a file has the answer it takes a while, too, of the thread's own: that is not known here. */
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <syslog.h>
#include <utmpx.h>
#include <wordexp.h>

#include "runtime/libc/libc.h"

/* ---- Hosts ------------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_getaddrinfo, DPROF_KIND_WAIT, "getaddrinfo");
DPROF_SITE_OF(site_getnameinfo, DPROF_KIND_WAIT, "getnameinfo");
DPROF_SITE_OF(site_gai_suspend, DPROF_KIND_WAIT, "gai_suspend");
DPROF_SITE_OF(site_gethostbyname, DPROF_KIND_WAIT, "gethostbyname");
DPROF_SITE_OF(site_gethostbyaddr, DPROF_KIND_WAIT, "gethostbyaddr");

#define ANSWER struct hostent *answer, char *room, size_t n, struct hostent **result, int *error

PLAIN_CALL(int, getaddrinfo, site_getaddrinfo,
	   (const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **result),
	   (host, service, hints, result))
PLAIN_CALL(int, getnameinfo, site_getnameinfo,
	   (const struct sockaddr *of, socklen_t size, char *host, socklen_t host_size, char *service,
	    socklen_t service_size, int flags),
	   (of, size, host, host_size, service, service_size, flags))
PLAIN_CALL(int, gai_suspend, site_gai_suspend,
	   (const struct gaicb *const list[], int n, const struct timespec *most), (list, n, most))
PLAIN_CALL(struct hostent *, gethostbyname, site_gethostbyname, (const char *name), (name))
PLAIN_CALL(struct hostent *, gethostbyname2, site_gethostbyname, (const char *name, int family), (name, family))
PLAIN_CALL(int, gethostbyname_r, site_gethostbyname, (const char *name, ANSWER),
	   (name, answer, room, n, result, error))
PLAIN_CALL(int, gethostbyname2_r, site_gethostbyname, (const char *name, int family, ANSWER),
	   (name, family, answer, room, n, result, error))
PLAIN_CALL(struct hostent *, gethostbyaddr, site_gethostbyaddr, (const void *address, socklen_t size, int family),
	   (address, size, family))
PLAIN_CALL(int, gethostbyaddr_r, site_gethostbyaddr, (const void *address, socklen_t size, int family, ANSWER),
	   (address, size, family, answer, room, n, result, error))

/* ---- Users ------------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_getpwnam, DPROF_KIND_WAIT, "getpwnam");
DPROF_SITE_OF(site_getpwuid, DPROF_KIND_WAIT, "getpwuid");
DPROF_SITE_OF(site_getgrnam, DPROF_KIND_WAIT, "getgrnam");
DPROF_SITE_OF(site_getgrgid, DPROF_KIND_WAIT, "getgrgid");
DPROF_SITE_OF(site_getgrouplist, DPROF_KIND_WAIT, "getgrouplist");
DPROF_SITE_OF(site_initgroups, DPROF_KIND_WAIT, "initgroups");

PLAIN_CALL(struct passwd *, getpwnam, site_getpwnam, (const char *name), (name))
PLAIN_CALL(struct passwd *, getpwuid, site_getpwuid, (uid_t id), (id))
PLAIN_CALL(int, getpwnam_r, site_getpwnam,
	   (const char *name, struct passwd *answer, char *room, size_t n, struct passwd **result),
	   (name, answer, room, n, result))
PLAIN_CALL(int, getpwuid_r, site_getpwuid,
	   (uid_t id, struct passwd *answer, char *room, size_t n, struct passwd **result),
	   (id, answer, room, n, result))
PLAIN_CALL(struct group *, getgrnam, site_getgrnam, (const char *name), (name))
PLAIN_CALL(struct group *, getgrgid, site_getgrgid, (gid_t id), (id))
PLAIN_CALL(int, getgrnam_r, site_getgrnam,
	   (const char *name, struct group *answer, char *room, size_t n, struct group **result),
	   (name, answer, room, n, result))
PLAIN_CALL(int, getgrgid_r, site_getgrgid,
	   (gid_t id, struct group *answer, char *room, size_t n, struct group **result),
	   (id, answer, room, n, result))
PLAIN_CALL(int, getgrouplist, site_getgrouplist, (const char *user, gid_t group, gid_t *groups, int *n),
	   (user, group, groups, n))
PLAIN_CALL(int, initgroups, site_initgroups, (const char *user, gid_t group), (user, group))

/* Another process may hold its lock. */
DPROF_SITE_OF(site_pututxline, DPROF_KIND_WAIT, "pututxline");

PLAIN_CALL(struct utmpx *, pututxline, site_pututxline, (const struct utmpx *line), (line))

/* ---- The log ------------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_syslog, DPROF_KIND_WAIT, "syslog");

void __syslog_chk(int, int, const char *, ...);
void __vsyslog_chk(int, int, const char *, va_list);

static inline void end_list(va_list *list)
{
	va_end(*list);
}

#define LOG(name, parameters, arguments)                        \
	DPROF_EXPORT void name parameters                       \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		struct plain p AT_END(plain_end) = { 0 };       \
                                                                \
		if (is_watched()) {                             \
			p.site = SITE(site_syslog);             \
			p.call = call_begin(p.site, CALLER);    \
		}                                               \
		real arguments;                                 \
	}
#define LOG_LIST(name, of_list, parameters, arguments)          \
	DPROF_EXPORT void name parameters                       \
	{                                                       \
		__typeof__(&of_list) real = REAL(of_list);      \
		struct plain p AT_END(plain_end) = { 0 };       \
		va_list list AT_END(end_list);                  \
                                                                \
		va_start(list, format);                         \
		if (is_watched()) {                             \
			p.site = SITE(site_syslog);             \
			p.call = call_begin(p.site, CALLER);    \
		}                                               \
		real arguments;                                 \
	}

LOG(vsyslog, (int priority, const char *format, va_list list), (priority, format, list))
LOG(__vsyslog_chk, (int priority, int flag, const char *format, va_list list), (priority, flag, format, list))
LOG_LIST(syslog, vsyslog, (int priority, const char *format, ...), (priority, format, list))
LOG_LIST(__syslog_chk, __vsyslog_chk, (int priority, int flag, const char *format, ...),
	 (priority, flag, format, list))

/* ---- Commands ------------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_system, DPROF_KIND_WAIT, "system");
DPROF_SITE_OF(site_wordexp, DPROF_KIND_WAIT, "wordexp");

DPROF_EXPORT int system(const char *command)
{
	__typeof__(&system) real = REAL(system);
	if (!is_watched())
		return real(command);
	descriptors_inherited();
	if (command)
		dprof_adapter_ran(command, readable_name(command), 0);
	PLAIN(p, site_system);
	return real(command);
}

DPROF_EXPORT int wordexp(const char *words, wordexp_t *result, int flags)
{
	__typeof__(&wordexp) real = REAL(wordexp);
	if (!is_watched())
		return real(words, result, flags);
	if (!(flags & WRDE_NOCMD))
		descriptors_inherited();
	PLAIN(p, site_wordexp);
	return real(words, result, flags);
}
