/* Two models in one program: `two ONE.bin TWO.bin`, of projects with the names one and two. */
#include <one/one.h>
#include <stdio.h>
#include <two/two.h>

static int no_input(void) { return one_input(ONE_INPUTS) == NULL && two_input(TWO_INPUTS) == NULL; }

int main(int argc, char **argv) {
  one_model *a = NULL;
  two_model *b = NULL;
  if (argc != 3) return 2;
  if (one_create(&a, &(one_options){.weights = argv[1]}) != ONE_OK) puts(one_error());
  if (two_create(&b, &(two_options){.weights = argv[2]}) != TWO_OK) puts(two_error());
  printf("%s %s\n", one_input(0)->type, two_input(0)->type);
  const int good = a && b && no_input();
  one_destroy(a);
  two_destroy(b);
  return !good;
}
