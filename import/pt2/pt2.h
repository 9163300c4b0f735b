/* Exported programs, as torch.export.save of PyTorch writes them (`.pt2`).
 *
 * import/pt2 owns the reader of these files.  It takes a file, and gives a graph of ATen's
 * operators and its weights.
 *
 *   NAME/archive_format              "pt2"
 *   NAME/byteorder                   "little"
 *   NAME/models/MODEL.json           the program: graph, signature, ranges of symbolic sizes
 *   NAME/data/weights/MODEL_weights_config.json       from names of parameters and buffers
 *   NAME/data/weights/weight_0 ...                    to raw bytes
 *   NAME/data/constants/...                           the same for tensors outside of the state
 *
 * The JSON is that of torch/_export/serde/schema.py; keys that are unknown are passed over. */
#ifndef NEREID_IMPORT_PT2_PT2_H
#define NEREID_IMPORT_PT2_PT2_H

#include "graph/ir/weight_list.h"
#include "import/archives/archive.h"

enum { PT2_SCHEMA_MAJOR = 8 };

/* The graph of the archive's one model, named as FX names it, with the types that the file gives.
 *
 * NULL after an error.  Operators that we lack stay as they are: ops_all_known names them all.
 *
 * Tensors of the file go into `w`, each bound to the input that takes it; they are valid until the
 * archive is closed.  All else is independent of the archive. */
Graph *pt2_read(Arena *a, Pool *names, Diags *d, const Archive *f, Weights *w);

#endif
