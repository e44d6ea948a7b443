// Marching cubes (Lorensen and Cline 1987): what crosses a cell, and which triangles that gives. Shared text; needs the
// dialect.
//
// **Cells.** Samples lie on a lattice; sample (x, y, z) is inside if its value is at least the level. The cell (x, y,
// z) has the corners (x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)), c = 0 ... 7; what is inside of it is a number of
// eight bits, bit c for corner c.
//
// **Edges** belong to the lower one of the two samples that they join: edge (x, y, z, axis) leads from its owner to the
// next sample along the axis. A cell's edge e runs along axis e >> 2; bits 0 and 1 of e tell how far its owner is from
// the cell's lowest corner along the other two axes, the lower axis first. An edge with one end inside has a vertex.
//
// **Order.** Vertices are numbered by owner, x fastest, and of one owner by axis. Triangles come by cell, x fastest,
// and of one cell as the table below has them. A lattice with a side below two samples has no cells, and so no mesh.
//
// **Triangles.** In each face of a cell whose corners are not all alike, a line runs round each run of inside corners,
// one that is alone is cut off for itself: so of two opposite inside corners neither is joined to the other across the
// face. That depends on the face alone, so that two cells agree on the face that they share (as in Montani, Scateni and
// Scopigno 1994, where a table of Lorensen and Cline's fifteen cases leaves holes). The lines of a cell close to loops,
// taken by their lowest edge; a loop becomes a fan of triangles about its lowest edge from which no line of the fan
// lies in a face of the cell: there is always one. So each side of a triangle is that of just one other, with the
// opposite direction, but on the faces of the whole lattice: the mesh is a closed manifold where it does not leave the
// lattice. Corners run counter-clockwise seen from outside. tests/test_surface_cases.c derives the table from these
// sentences.
//
// The table has two words for each of the 256 cases, the lower first: nibble i of the 60 lowest bits is the edge of
// corner i; the highest nibble is the number of triangles, 0 ... 5.

// Word i of them; from elsewhere where SAP_CUBE_WORD(i) says from where.
#ifdef SAP_CUBE_WORD
SAP_FN SAP_BITS sap_cube_word(SAP_BITS i) { return SAP_CUBE_WORD(i); }
#else
SAP_FN SAP_BITS sap_cube_word(SAP_BITS i) {
    SAP_TABLE(SAP_BITS, words, 512)
    // clang-format off
        0x00000000u, 0x00000000u, 0x00000840u, 0x10000000u, 0x00000590u, 0x10000000u, 0x00594984u, 0x20000000u,
        0x000004a1u, 0x10000000u, 0x008a0a10u, 0x20000000u, 0x004a1590u, 0x20000000u, 0x919818a1u, 0x30000005u,
        0x00000b51u, 0x10000000u, 0x00b51840u, 0x20000000u, 0x001b0b90u, 0x20000000u, 0x91981841u, 0x3000000bu,
        0x00ab4b54u, 0x20000000u, 0xa0ab0b50u, 0x30000008u, 0xa0ab0b90u, 0x30000004u, 0x00ab8b98u, 0x20000000u,
        0x00000682u, 0x10000000u, 0x00260640u, 0x20000000u, 0x00682590u, 0x20000000u, 0x42452592u, 0x30000006u,
        0x006824a1u, 0x20000000u, 0x606a0a10u, 0x30000002u, 0x824a1590u, 0x30000006u, 0x212616a1u, 0x40005919u,
        0x00682b51u, 0x20000000u, 0x51260640u, 0x3000000bu, 0x821b0b90u, 0x30000006u, 0x21261641u, 0x4000b919u,
        0xb4b54682u, 0x3000000au, 0xa0ab0b50u, 0x40002606u, 0xa0ab0b90u, 0x40006824u, 0xa2ab2b92u, 0x30000006u,
        0x00000972u, 0x10000000u, 0x00972840u, 0x20000000u, 0x00570720u, 0x20000000u, 0x42452572u, 0x30000008u,
        0x009724a1u, 0x20000000u, 0x728a0a10u, 0x30000009u, 0xa1570720u, 0x30000004u, 0x212818a1u, 0x40005717u,
        0x00972b51u, 0x20000000u, 0x72b51840u, 0x30000009u, 0xb0b70720u, 0x30000001u, 0x21281841u, 0x4000b717u,
        0xb4b54972u, 0x3000000au, 0xa0ab0b50u, 0x40009728u, 0xb0b70720u, 0x40004a0au, 0xa2ab2b72u, 0x30000008u,
        0x00896976u, 0x20000000u, 0x70760640u, 0x30000009u, 0x70760680u, 0x30000005u, 0x00574764u, 0x20000000u,
        0x969764a1u, 0x30000008u, 0x606a0a10u, 0x40009707u, 0x70760680u, 0x40004a15u, 0x717616a1u, 0x30000005u,
        0x96976b51u, 0x30000008u, 0x70760640u, 0x4000b519u, 0x70760680u, 0x40001b0bu, 0x71761641u, 0x3000000bu,
        0x76ab4b54u, 0x40008969u, 0xa0ab0b50u, 0x59707606u, 0x70760680u, 0x54a0ab0bu, 0x00ab6b76u, 0x20000000u,
        0x00000a63u, 0x10000000u, 0x00a63840u, 0x20000000u, 0x00a63590u, 0x20000000u, 0x94984a63u, 0x30000005u,
        0x00461631u, 0x20000000u, 0x60630310u, 0x30000008u, 0x61631590u, 0x30000004u, 0x81861631u, 0x40005919u,
        0x00a63b51u, 0x20000000u, 0x63b51840u, 0x3000000au, 0x631b0b90u, 0x3000000au, 0x91981841u, 0x4000a63bu,
        0x53543463u, 0x3000000bu, 0x303b0b50u, 0x40008606u, 0x303b0b90u, 0x40004606u, 0x93983863u, 0x3000000bu,
        0x003a2a82u, 0x20000000u, 0x303a0a40u, 0x30000002u, 0xa2a82590u, 0x30000003u, 0x42452592u, 0x40003a2au,
        0x81821231u, 0x30000004u, 0x00230310u, 0x20000000u, 0x21231590u, 0x40004818u, 0x91921231u, 0x30000005u,
        0xa2a82b51u, 0x30000003u, 0x303a0a40u, 0x4000b512u, 0x821b0b90u, 0x40003a2au, 0x121b2b92u, 0x53a2a424u,
        0x52542482u, 0x40003b2bu, 0x303b0b50u, 0x30000002u, 0x43483823u, 0x5b939030u, 0x003b2b92u, 0x20000000u,
        0x00a63972u, 0x20000000u, 0x63972840u, 0x3000000au, 0x63570720u, 0x3000000au, 0x42452572u, 0x4000a638u,
        0x72461631u, 0x30000009u, 0x60630310u, 0x40009728u, 0x31570720u, 0x40004616u, 0x81861631u, 0x55717212u,
        0x63972b51u, 0x3000000au, 0x72b51840u, 0x4000a639u, 0xb0b70720u, 0x4000a631u, 0x21281841u, 0x5a63b717u,
        0x43463972u, 0x4000b535u, 0x303b0b50u, 0x59728606u, 0xb0b70720u, 0x54606303u, 0xb8b78728u, 0x40006383u,
        0x83893973u, 0x3000000au, 0x303a0a40u, 0x40009707u, 0x303a0a80u, 0x40005707u, 0x43453573u, 0x3000000au,
        0x91971731u, 0x40004818u, 0x70730310u, 0x30000009u, 0x03053573u, 0x51434838u, 0x00571731u, 0x20000000u,
        0x93973b51u, 0x4000a838u, 0x303a0a40u, 0x5b519707u, 0x303a0a80u, 0x51b0b707u, 0x747343a4u, 0x40001b4bu,
        0x83893973u, 0x5b535434u, 0x303b0b50u, 0x40009707u, 0x00b73480u, 0x20000000u, 0x00000b73u, 0x10000000u,
        0x000007b3u, 0x10000000u, 0x007b3840u, 0x20000000u, 0x007b3590u, 0x20000000u, 0x949847b3u, 0x30000005u,
        0x007b34a1u, 0x20000000u, 0xb38a0a10u, 0x30000007u, 0xb34a1590u, 0x30000007u, 0x919818a1u, 0x40007b35u,
        0x00371751u, 0x20000000u, 0x71751840u, 0x30000003u, 0x30370790u, 0x30000001u, 0x91981841u, 0x40003717u,
        0x535434a3u, 0x30000007u, 0x30370750u, 0x40008a0au, 0x30370790u, 0x40004a0au, 0x939838a3u, 0x30000007u,
        0x007b3682u, 0x20000000u, 0xb3260640u, 0x30000007u, 0xb3682590u, 0x30000007u, 0x42452592u, 0x40007b36u,
        0xb36824a1u, 0x30000007u, 0x606a0a10u, 0x40007b32u, 0x824a1590u, 0x40007b36u, 0x212616a1u, 0x57b35919u,
        0x82371751u, 0x30000006u, 0x51260640u, 0x40003717u, 0x30370790u, 0x40006821u, 0x21261641u, 0x53717919u,
        0x434a3682u, 0x40007535u, 0x30370750u, 0x52606a0au, 0x30370790u, 0x56824a0au, 0xa9a39379u, 0x40002696u,
        0x009b2b32u, 0x20000000u, 0xb2b32840u, 0x30000009u, 0xb0b30320u, 0x30000005u, 0x525b2b32u, 0x40008424u,
        0xb2b324a1u, 0x30000009u, 0x328a0a10u, 0x40009b2bu, 0xb0b30320u, 0x40004a15u, 0x525b2b32u, 0x58a2a121u,
        0x21291951u, 0x30000003u, 0x91951840u, 0x40003212u, 0x00130320u, 0x20000000u, 0x21281841u, 0x30000003u,
        0x424a2a32u, 0x40009525u, 0x030838a3u, 0x52939535u, 0xa0a30320u, 0x30000004u, 0x008a2a32u, 0x20000000u,
        0x838939b3u, 0x30000006u, 0x30360640u, 0x40009b0bu, 0x30360680u, 0x40005b0bu, 0x434535b3u, 0x30000006u,
        0x939b34a1u, 0x40006838u, 0x606a0a10u, 0x59b0b303u, 0x30360680u, 0x54a15b0bu, 0x656a5a15u, 0x4000b353u,
        0x81891951u, 0x40003616u, 0x93953513u, 0x56434030u, 0x30360680u, 0x30000001u, 0x00361641u, 0x20000000u,
        0x535434a3u, 0x56838939u, 0x006a3950u, 0x20000000u, 0x30360680u, 0x40004a0au, 0x000006a3u, 0x10000000u,
        0x007b6ba6u, 0x20000000u, 0xb6ba6840u, 0x30000007u, 0xb6ba6590u, 0x30000007u, 0xa6594984u, 0x40007b6bu,
        0x616717b1u, 0x30000004u, 0x707b0b10u, 0x40008606u, 0x717b1590u, 0x40004616u, 0x616717b1u, 0x55919818u,
        0x61671751u, 0x3000000au, 0x71751840u, 0x4000a616u, 0x60670790u, 0x40001a0au, 0x91981841u, 0x5a616717u,
        0x00674754u, 0x20000000u, 0x60670750u, 0x30000008u, 0x60670790u, 0x30000004u, 0x00796986u, 0x20000000u,
        0xb2ba2a82u, 0x30000007u, 0xb0ba0a40u, 0x40002707u, 0xa2a82590u, 0x40007b2bu, 0x42452592u, 0x57b2ba2au,
        0x212717b1u, 0x40004818u, 0x707b0b10u, 0x30000002u, 0x717b1590u, 0x54818212u, 0x212717b1u, 0x40005919u,
        0x21271751u, 0x4000a818u, 0xa2a42402u, 0x57525121u, 0x71791901u, 0x5a818212u, 0x00792a41u, 0x20000000u,
        0x52542482u, 0x30000007u, 0x00270750u, 0x20000000u, 0x74794904u, 0x40008242u, 0x00000792u, 0x10000000u,
        0xb2ba2a62u, 0x30000009u, 0xa2a62840u, 0x40009b2bu, 0xa0a60620u, 0x40005b0bu, 0xb2ba2a62u, 0x58424525u,
        0x212919b1u, 0x40004616u, 0x212919b1u, 0x50818616u, 0x12142462u, 0x50525b2bu, 0x008625b1u, 0x20000000u,
        0x21291951u, 0x4000a616u, 0x91951840u, 0x5a616212u, 0xa0a60620u, 0x30000001u, 0x21281841u, 0x4000a616u,
        0x52542462u, 0x30000009u, 0x65625295u, 0x40000858u, 0x00460620u, 0x20000000u, 0x00000862u, 0x10000000u,
        0x009b8ba8u, 0x20000000u, 0xb0ba0a40u, 0x30000009u, 0xb0ba0a80u, 0x30000005u, 0x005b4ba4u, 0x20000000u,
        0x818919b1u, 0x30000004u, 0x009b0b10u, 0x20000000u, 0xb8b18148u, 0x40000585u, 0x000005b1u, 0x10000000u,
        0x81891951u, 0x3000000au, 0xa9a49409u, 0x40005191u, 0x001a0a80u, 0x20000000u, 0x00000a41u, 0x10000000u,
        0x00894954u, 0x20000000u, 0x00000950u, 0x10000000u, 0x00000480u, 0x10000000u, 0x00000000u, 0x00000000u
        // clang-format on
        SAP_TABLE_END;
    return words[i];
}
#endif

// How many triangles a cell has.
SAP_FN SAP_BITS sap_cube_triangles(SAP_BITS inside) { return sap_cube_word(2u * inside + 1u) >> 28u; }

// The edge on which a corner of its triangles lies: triangle i has the corners 3 i, 3 i + 1 and 3 i + 2.
SAP_FN SAP_BITS sap_cube_edge(SAP_BITS inside, SAP_BITS corner) {
    return (sap_cube_word(2u * inside + (corner >> 3u)) >> (4u * (corner & 7u))) & 15u;
}

// The axis of a cell's edge.
SAP_FN SAP_BITS sap_edge_axis(SAP_BITS edge) { return edge >> 2u; }

// How far the owner of a cell's edge is from the cell's lowest corner along an axis: 0 or 1.
SAP_FN SAP_BITS sap_edge_step(SAP_BITS edge, SAP_BITS axis) {
    SAP_BITS own = edge >> 2u;
    SAP_BITS bit = axis > (own == 2u ? 0u : 1u) ? 1u : 0u; // whether it is the higher one of the others
    return axis == own ? 0u : (edge >> bit) & 1u;
}
