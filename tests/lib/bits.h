/* Floats as bits, for the tables of corners. */
#ifndef RDK_TEST_BITS_H
#define RDK_TEST_BITS_H

#define ONE 0x3f800000u
#define M1 0xbf800000u
#define INF 0x7f800000u
#define MINUS_INF 0xff800000u
#define QUIET 0x7fc00000u
#define MINUS_QUIET 0xffc54321u
#define SIGNALLING 0x7f800001u
#define MINUS_SIGNALLING 0xffa12345u
#define MAX 0x7f7fffffu /* FLT_MAX */
#define MINUS_MAX 0xff7fffffu
#define M1000 0xc47a0000u
#define P1E30 0x7149f2cau
#define M1E30 0xf149f2cau
#define LN2 0x3f317218u /* a scale for which ch is 1: whole scores have exact weights */

#endif
